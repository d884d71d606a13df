// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// Searches for certificates in the keychain.
enum CertificateItems {
    /// An item and the certificate that it holds.
    struct StoredCertificate {
        let record: ItemRecord
        let certificate: Certificate
    }

    static func addition(_ certificate: Certificate, accessGroup: String?) -> ItemAddition {
        ItemAddition(
            .certificate, attributes: CertificateAttributes.standard(certificate),
            secrets: ItemSecrets(data: SharedSecret(copying: certificate.der)), accessGroup: accessGroup)
    }

    /// Returns all certificates, in the order in which they were added. Items without a valid
    /// certificate are skipped.
    static func all(
        _ attributes: [ItemAttribute: AttributeValue] = [:], group: String? = nil, in keychain: KeychainSession
    ) throws(CommandFailure) -> [StoredCertificate] {
        let query = ItemQuery(
            .certificate, attributes: attributes, accessGroup: group, synchronizable: .any, limit: .all)
        let matches = try CommandFailure.mapErrors(PasswordSearch.function) { () throws(KeychainError) in
            try PasswordSearch.matches(
                query, returning: [.attributes, .data, .persistentReference], in: keychain)
        }
        return matches.records.compactMap { record in
            let der = record.secrets?.data?.withUnsafeBytes { Array($0) }
            return der.flatMap { try? Certificate(der: $0) }.map { StoredCertificate(record: record, certificate: $0) }
        }
    }

    /// Returns the certificates whose private key is in the keychain, each with its key.
    static func identities(
        group: String? = nil, in keychain: KeychainSession
    ) throws(CommandFailure) -> [(found: StoredCertificate, key: ItemRecord)] {
        let keys = try KeySearch.all(
            [.keyClass: .number(KeyHalf.privateKey.rawValue)], group: group, in: keychain)
        let byLabel = Dictionary(grouping: keys) { $0[.applicationLabel]?.canonicalBytes ?? [] }
        return try all(group: group, in: keychain).flatMap { found in
            (byLabel[found.certificate.publicKeyHash] ?? []).map { (found, $0) }
        }
    }
}
