// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
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

    /// Returns all certificates, in the order of their addition. Items without a valid certificate are skipped.
    static func all(
        _ attributes: [ItemAttribute: AttributeValue] = [:], group: String? = nil, in keychain: KeychainSession
    ) throws(CommandFailure) -> [StoredCertificate] {
        let query = ItemQuery(
            .certificate, attributes: attributes, accessGroup: group, synchronizable: .any, limit: .all)
        let matches = try CommandFailure.mapErrors(PasswordSearch.function) { () throws(KeychainError) in
            try PasswordSearch.matches(
                query, returning: [.attributes, .data, .persistentReference], in: keychain)
        }
        return matches.records.compactMap(stored)
    }

    private static func stored(_ record: ItemRecord) -> StoredCertificate? {
        let der = record.secrets?.data?.withUnsafeBytes { Array($0) }
        return der.flatMap { try? Certificate(der: $0) }.map { StoredCertificate(record: record, certificate: $0) }
    }

    /// Returns the identities of the keychain, each as its certificate and its key.
    ///
    /// - Parameter person: how the person is asked for identities with an access control; nil for a list, because it
    ///   leaves them out.
    static func identities(
        group: String? = nil, in keychain: KeychainSession, for person: PersonPrompt? = nil
    ) throws(CommandFailure) -> [(found: StoredCertificate, key: ItemRecord)] {
        func search(_ authentication: Authentication) throws(KeychainError) -> [IdentityRecord] {
            let query = ItemQuery(
                .identity, accessGroup: group, synchronizable: .any, limit: .all, authentication: authentication)
            return try keychain.copyIdentities(query, returning: [.attributes, .reference])
        }
        let identities = try CommandFailure.mapErrors(PasswordSearch.function) { () throws(KeychainError) in
            guard let person else { return try search(Authentication(.skip)) }
            return try person.perform(search)
        }
        return identities.compactMap { identity in
            stored(identity.certificate).map { (found: $0, key: identity.key) }
        }
    }
}
