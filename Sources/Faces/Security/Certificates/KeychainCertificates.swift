// SPDX-License-Identifier: Apache-2.0

@_implementationOnly import CertificateTrust
internal import Foundation
@_implementationOnly import KeychainModel
@_implementationOnly import LatchkeyClient
@_implementationOnly import LatchkeyService
@_implementationOnly import SecretMemory

/// The certificates of the keychain that the program may read.
@_implementationOnly enum KeychainCertificates {
    static func all() -> [Certificate] { found([:]) }

    static func named(_ name: DistinguishedName) -> [Certificate] { found([.subject: .data(name.normalizedContent)]) }

    private static func found(_ attributes: [ItemAttribute: AttributeValue]) -> [Certificate] {
        let query = ItemQuery(.certificate, attributes: attributes, synchronizable: .any, limit: .all)
        let matches = try? KeychainClient.service().copyMatching(query, returning: .data, from: KeychainClient.caller)
        return (matches?.records ?? []).compactMap(certificate)
    }

    /// The certificate of an identity, whose identifier is the certificate's.
    static func ofIdentity(_ record: ItemRecord) throws(KeychainError) -> SecCertificate {
        let reference = PersistentReference(.certificate, record.identifier)
        let query = ItemQuery(.certificate, synchronizable: .any, persistentReference: reference)
        let found = try KeychainClient.service().copyMatching(query, returning: .data, from: KeychainClient.caller)
        guard let certificate = found.records.first.flatMap(certificate) else {
            throw KeychainError(.decode, "the item holds no certificate in DER")
        }
        return SecCertificate(certificate)
    }

    /// The certificate that an item holds; nil where its data is none.
    static func certificate(of record: ItemRecord) -> Certificate? {
        record.secrets?.data?.withUnsafeBytes { try? Certificate(der: Array($0)) }
    }
}
