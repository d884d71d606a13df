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
        notes: ["In System.keychain, it removes the trust settings of the administrator, and requires root."],
        examples: [
            "delete-certificate -c example.com", "delete-certificate -Z 2B8F1B57330DBBA2D07A6C51F70EE90DDAB9AD8E",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychains = try KeychainOperand.searched(arguments.operands, in: session)
        let selector = try CertificateSelector(arguments)
        let all = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.all(in: keychain)
        }
        let (found, keychain) = try selector.one(of: all, certificate: \.value)
        guard !keychain.isAdministrators else {
            return try TrustSettingsDomain.removeFromAdministrator(found.certificate)
        }
        try keychain.requireChangeable()
        try CertificateSelector.delete([found.record], from: keychain.session)
    }
}
