// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyService

/// `security delete-identity`.
enum DeleteIdentity: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-identity", summary: "Delete a certificate of the keychain and its private key.",
        options: CertificateSelector.options,
        operands: "[keychain...]", examples: ["delete-identity -c example.com"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        let selector = try CertificateSelector(arguments)
        let identities = try CertificateItems.identities(in: keychain)
        let found = try selector.one(of: identities.map(\.found))
        let keys = identities.filter { $0.found.record.identifier == found.record.identifier }.map(\.key)
        // The key is deleted first, as on macOS.
        try CertificateSelector.delete(keys + [found.record], from: keychain)
    }
}
