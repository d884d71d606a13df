// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainSessions
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// An identity of the keychain, for its renewal.
struct RenewedIdentity {
    let certificate: Certificate
    /// The item of the certificate.
    let record: ItemRecord
    /// The item of the private key.
    let key: ItemRecord

    /// Returns the identity with a label or a subject. Of several, the one with the latest start of validity.
    ///
    /// - Throws: errSecItemNotFound if there is none.
    static func named(
        _ name: String, group: String?, in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> RenewedIdentity {
        let found = try CertificateItems.identities(group: group, in: keychain, for: person).filter { identity in
            identity.found.record[.label]?.text == name || identity.key[.label]?.text == name
                || identity.found.certificate.subjectSummary == name
        }
        let newest = found.max { left, right in
            left.found.certificate.validity.notBefore < right.found.certificate.validity.notBefore
        }
        guard let newest else {
            throw .status(
                KeychainError(
                    .itemNotFound, "there is no identity with the label or subject '\(name)'",
                    hint: "security find-identity"))
        }
        return RenewedIdentity(
            certificate: newest.found.certificate, record: newest.found.record, key: newest.key)
    }

    /// Signs with the private key of an item.
    static func signature(
        of body: [UInt8], _ algorithm: SigningAlgorithm, with record: ItemRecord, in keychain: KeychainSession,
        for person: PersonPrompt
    ) throws(CommandFailure) -> [UInt8] {
        let key = try KeySearch.privateKey(record, in: keychain, for: person)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let result = body.withUnsafeBytes { bytes in
                Result { () throws(KeychainError) in try key.signature(of: bytes, algorithm.operation) }
            }
            return try result.get()
        }
    }

    /// Generates a key of the same kind, with the label, group and protection of the present one.
    func generateKey(
        in keychain: KeychainSession, for person: PersonPrompt
    ) throws(CommandFailure) -> GeneratedKey {
        let kind = try KeySearch.publicKey(key, in: keychain).kind
        var attributes: [ItemAttribute: AttributeValue] = [:]
        for attribute in [ItemAttribute.label, .applicationTag, .isExtractable] {
            attributes[attribute] = key[attribute]
        }
        let half = ItemAddition(
            .key, attributes: attributes, accessGroup: key.accessGroup.name, protection: key.protection,
            accessControlFlags: key.accessControlFlags)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try person.perform { (authentication) throws(KeychainError) in
                var generation = KeyGeneration(kind, privateHalf: half)
                generation.privateHalf.authentication = authentication
                return try keychain.generateKey(generation)
            }
        }
    }

    /// Stores a renewed certificate beside the present one, under the same label.
    func store(_ renewed: Certificate, in keychain: KeychainSession) throws(CommandFailure) {
        var addition = CertificateItems.addition(renewed, accessGroup: record.accessGroup.name)
        addition.attributes[.label] = record[.label]
        addition.protection = record.protection
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in _ = try keychain.add(addition) }
    }

    /// Stores a CA that has come with the certificate, unless it is there.
    func storeIssuer(_ issuer: Certificate, in keychain: KeychainSession) throws(CommandFailure) {
        do throws(KeychainError) {
            _ = try keychain.add(CertificateItems.addition(issuer, accessGroup: record.accessGroup.name))
        } catch {
            guard error.status == .duplicateItem else { throw .status(error) }
        }
    }
}
