// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import Glibc
public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The certificates in the keychain that the program may read.
public enum KeychainCertificates {
    public static func all() -> [Certificate] { matching([:]) }

    /// The same; it does not create a keychain that does not exist yet.
    public static func allStored() -> [Certificate] { KeychainClient.hasKeychain ? all() : [] }

    public static func withSubject(_ name: DistinguishedName) -> [Certificate] {
        matching([.subject: .data(name.normalizedContent)])
    }

    /// The certificates with a subject, for the evaluation of other certificates. It does not
    /// create a keychain that does not exist yet.
    public static let issuers: TrustEvaluation.IssuerSource = { name in
        KeychainClient.hasKeychain ? withSubject(name) : []
    }

    private static func matching(_ attributes: [ItemAttribute: AttributeValue]) -> [Certificate] {
        let query = ItemQuery(.certificate, attributes: attributes, synchronizable: .any, limit: .all)
        let matches = try? KeychainClient.session().copyMatching(query, returning: .data)
        return (matches?.records ?? []).compactMap(certificate)
    }

    /// Returns the certificate in an item; nil if its data is not a certificate.
    public static func certificate(of record: ItemRecord) -> Certificate? {
        record.secrets?.data?.withUnsafeBytes { try? Certificate(der: Array($0)) }
    }
}
