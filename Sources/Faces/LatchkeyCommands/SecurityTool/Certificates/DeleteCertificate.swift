// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyService

/// `security delete-certificate`.
enum DeleteCertificate: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-certificate", summary: "Delete a certificate of the keychain.",
        options: CertificateSelector.options,
        operands: "[keychain...]",
        examples: [
            "delete-certificate -c example.com", "delete-certificate -Z 2B8F1B57330DBBA2D07A6C51F70EE90DDAB9AD8E",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.check(arguments.operands, in: session)
        let selector = try CertificateSelector(arguments)
        let found = try selector.one(of: CertificateItems.all(in: keychain))
        try CertificateSelector.delete([found.record], from: keychain)
    }
}
