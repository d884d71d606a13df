// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// `security delete-identity`.
enum DeleteIdentity: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-identity", summary: "Delete a certificate of the keychain and its private key.",
        options: CertificateSelector.options,
        operands: "[keychain...]", examples: ["delete-identity -c example.com"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychains = try KeychainOperand.searched(arguments.operands, in: session)
        let selector = try CertificateSelector(arguments)
        let all = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.identities(in: keychain, for: PersonPrompt())
        }
        let (identity, commandKeychain) = try selector.one(of: all, certificate: \.value.found)
        let (found, keychain) = (identity.found, commandKeychain.session)
        let identities = try CertificateItems.identities(in: keychain, for: PersonPrompt())
        let reference = PersistentReference(.identity, found.record.identifier)
        try CommandFailure.mapErrors("SecKeychainItemDelete") { () throws(KeychainError) in
            // The certificate and its keys, in one transaction.
            let item = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
            guard try keychain.delete(item) > 0 else { throw .itemNotFound }
        }
        // That keeps a key that another certificate uses. macOS deletes such a key, too.
        try CertificateSelector.delete(sharedKeys(of: found.record, identities), from: keychain)
    }

    /// Returns the keys of the certificate that also belong to another one.
    private static func sharedKeys(
        of certificate: ItemRecord, _ identities: [(found: CertificateItems.StoredCertificate, key: ItemRecord)]
    ) -> [ItemRecord] {
        let others = Set(
            identities.filter { $0.found.record.identifier != certificate.identifier }.map(\.key.identifier))
        return identities.filter { $0.found.record.identifier == certificate.identifier }.map(\.key).filter {
            others.contains($0.identifier)
        }
    }
}
