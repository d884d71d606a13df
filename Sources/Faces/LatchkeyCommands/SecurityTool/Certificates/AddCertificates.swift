// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `security add-certificates`.
enum AddCertificates: SecurityCommand {
    static let definition = CommandDefinition(
        name: "add-certificates", summary: "Add the certificates of files to the keychain.",
        options: [CommandOption("-k", .required("keychain"), help: "the keychain"), .accessGroup], operands: "file...",
        notes: ["Certificates are read in PEM, DER and PKCS#7."], examples: ["add-certificates ca.pem intermediate.der"]
    )

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the files are missing") }
        let keychain = try KeychainOperand.changed(arguments["-k"], in: session).session
        // All files are read before the first certificate is added.
        let certificates = try CertificateFiles.read(arguments.operands.map(\.path), in: session)
        var status: Int32 = 0
        for certificate in certificates {
            let addition = CertificateItems.addition(certificate, accessGroup: arguments.accessGroup)
            do throws(KeychainError) {
                _ = try keychain.add(addition)
            } catch {
                // The other certificates are still added.
                let name = certificate.subjectSummary ?? "a certificate without a name"
                session.report(
                    .status(KeychainError(error.status, "\(name): \(error.problem)", hint: error.hint)),
                    of: "add-certificates")
                status = error.status.rawValue
            }
        }
        if status != 0 { throw .reported(status) }
    }
}
