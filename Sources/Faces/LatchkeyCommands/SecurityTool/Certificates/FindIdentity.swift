// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// `security find-identity`.
enum FindIdentity: SecurityCommand {
    static let definition = CommandDefinition(
        name: "find-identity", summary: "Show the identities of the keychain, and those valid for a policy.",
        options: [
            CommandOption(
                "-p", .required("policy"), help: "basic (default), ssl-client, ssl-server, smime, codesigning"),
            CommandOption("-s", .required("name"), help: "the required name: the host or the email address"),
            CommandOption("-v", help: "show only valid identities"), .accessGroup,
        ] + CommandOption.passcode,
        operands: "[keychain...]",
        notes: [
            """
            An identity is valid if a chain leads from its certificate to an anchor. The certificates of the keychain \
            are used as intermediates.
            """
        ],
        examples: ["find-identity -v -p codesigning", "find-identity -p ssl-server -s example.com"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychains = try KeychainOperand.searched(arguments.operands, in: session)
        let names = arguments.values("-p")
        let policies = try (names.isEmpty ? ["basic"] : names).map { (name) throws(CommandFailure) in
            try policy(name, arguments["-s"]?.text)
        }
        let identities = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.identities(group: arguments.accessGroup, in: keychain).map(\.found.certificate)
        }.map(\.value)
        let known = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.all(in: keychain).map(\.certificate)
        }.map(\.value)
        let validationTime = try ValidationTime.validationTime(nil)
        for policy in policies {
            let evaluated = identities.map { certificate in
                var evaluation = TrustEvaluation([certificate] + known, policies: [policy.policy], at: validationTime)
                evaluation.take(TrustSettingsDomain.all)
                return Row(certificate: certificate, failure: evaluation.verdict().failure)
            }
            let valid = evaluated.filter { $0.failure == nil }
            if !arguments.contains("-v") {
                try session.write(
                    "\nPolicy: \(policy.title)\n  Matching identities\n\(lines(evaluated))     \(evaluated.count) identities found\n\n"
                )
                try session.write("  Valid identities only\n")
            }
            try session.write("\(lines(valid))     \(valid.count) valid identities found\n")
        }
    }

    private struct Row {
        let certificate: Certificate
        let failure: TrustFailure?
    }

    private static func lines(_ rows: [Row]) -> TerminalText {
        rows.enumerated().map { index, row -> TerminalText in
            let number = String(index + 1)
            let padding = TerminalText.spaces(3 - number.count)
            let reason = row.failure.map { " (\($0.rule.traditionalName))" } ?? ""
            let name = row.certificate.subjectSummary ?? ""
            let hash = Hexadecimal.text(row.certificate.sha1, isUppercase: true)
            return "\(padding)\(number)) \(hash) \"\(name)\"\(reason)\n"
        }.joined()
    }

    private static func policy(_ name: String, _ subject: String?) throws(CommandFailure) -> (
        policy: TrustPolicy, title: String
    ) {
        let server = subject.map { ServerName(requested: $0) }
        switch name {
        case "basic": return (.basicX509, "X.509 Basic")
        case "ssl-client": return (.client(server), "SSL (client)")
        case "ssl-server": return (.server(server), "SSL (server)")
        case "smime": return (.mail(address: subject), "S/MIME")
        case "codesigning": return (.codeSigning, "Code Signing")
        default:
            throw .status(
                KeychainError(
                    .unimplemented, "the policy '\(name)' is not supported",
                    hint: "-p basic, ssl-client, ssl-server, smime or codesigning"))
        }
    }
}
