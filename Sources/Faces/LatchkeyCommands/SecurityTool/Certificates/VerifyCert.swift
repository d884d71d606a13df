// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `security verify-cert`.
package enum VerifyCert: SecurityCommand {
    static let definition = CommandDefinition(
        name: "verify-cert",
        summary: "Verify a certificate chain, of files or of a server.",
        options: [
            CommandOption("-c", .required("file"), help: "certificates in PEM or DER, the leaf first"),
            CommandOption("-r", .required("file"), help: "an anchor, used instead of the system's"),
            CommandOption(
                "-p", .required("policy"),
                help: "ssl, smime, codeSign, timestamping or basic (default)"),
            CommandOption("-C", help: "the certificate is a client's; with -p ssl"),
            CommandOption("-d", .required("date"), help: "the validation time, YYYY-MM-DD[-hh:mm:ss] in UTC"),
            CommandOption(
                "-k", .required("keychain"), help: "accepted; the one keychain is searched for issuers"),
            CommandOption(
                "-n", .required("name"),
                help: "the required name: the host with -p ssl, the email address with -p smime"),
            CommandOption("-N", help: "do not search the keychain for issuers"),
            CommandOption("-L", help: "fetch nothing from the network"),
            CommandOption("-l", help: "the leaf may be a CA certificate"),
            CommandOption("-e", .required("mail"), help: "the email address; an older form of -n"),
            CommandOption(
                "-R", .required("check"), help: "revocation check: none (default), offline, crl, ocsp or require"),
            CommandOption("--crl", .required("file"), help: "a CRL, in PEM or DER (Latchkey's addition)"),
            CommandOption("--ocsp", .required("file"), help: "an OCSP response, in DER (Latchkey's addition)"),
            CommandOption("-s", .required("host"), help: "the host; an older form of -n"),
            CommandOption("-q", help: "print nothing"),
            CommandOption("-P", help: "print the chain in PEM"),
            CommandOption("-t", help: "print the contents of the chain's certificates"),
            CommandOption("-v", help: "print every chain that was tried, and why it was rejected"),
        ],
        operands: "[url]",
        notes: [
            """
            With a URL, the certificates are those that its server sends, and the default policy is ssl with the \
            host of the URL. This needs latchkey-tls, which is installed beside latchkey.
            """,
            """
            Exits with 0 if the certificate is trusted, else with 1. The second line on standard error shows what was \
            expected and what was found; 'latchkey trust explain' shows more.
            """,
            """
            With -R crl and ocsp, revocation evidence is fetched over HTTP from the locations that the certificates \
            name, once the chain is otherwise trusted, for at most ten seconds. With require, verification fails \
            unless confirmed not revoked.
            """,
        ],
        examples: [
            "verify-cert -c server.pem -p ssl -n example.com",
            "verify-cert -c server.pem -c chain.pem -r ca.pem -p ssl -s example.com",
            "verify-cert -v https://example.com",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !(arguments.contains("-k") && arguments.contains("-N")) else {
            throw .usage("-k and -N exclude each other")
        }
        if !arguments.operands.isEmpty {
            let words = arguments.occurrences.flatMap { [$0.option.name] + ($0.value.map { [$0.text] } ?? []) }
            try CompanionProgram.transport.run(
                [definition.name] + words + ["--"] + arguments.operands.map(\.text), in: session)
        }
        let files = arguments.values("-c")
        guard !files.isEmpty else { throw .line("security: verify-cert: no certificate was given (-c FILE)") }
        if let keychain = arguments["-k"] { _ = try KeychainOperand.one(keychain, in: session) }
        let presented = try CertificateFiles.presented(files) {
            if !arguments.contains("-q") { session.warn("\($0)") }
        }
        try verify(presented, arguments, try policy(arguments), in: session)
    }

    private static func verify(
        _ presented: [Certificate], _ arguments: ParsedArguments, _ policy: TrustPolicy, in session: CommandSession
    ) throws(CommandFailure) {
        let verdict = try evaluation(arguments, presented, policy).verdict()
        try report(verdict, arguments, in: session)
        if !verdict.isTrusted { throw .reported(1) }
    }

    /// Runs the command for a URL.
    ///
    /// - Parameters:
    ///   - words: the options and the URL.
    ///   - fetch: gets the host of the URL and the certificates that its server sends, leaf first.
    /// - Returns: the status; 0 is success.
    package static func execute(
        _ words: [CommandWord], in session: CommandSession,
        fetch: (String) throws(CommandFailure) -> (host: String, certificates: [Certificate])
    ) -> Int32 {
        do throws(CommandFailure) {
            let arguments = try definition.parse(words)
            guard let url = arguments.operands.first, arguments.operands.count == 1 else {
                throw .usage("one URL is expected")
            }
            guard arguments.values("-c").isEmpty else { throw .usage("-c and a URL exclude each other") }
            let served = try fetch(url.text)
            try verify(served.certificates, arguments, try policy(arguments, host: served.host), in: session)
            return 0
        } catch {
            session.report(error, of: definition.name)
            if case .usage = error { session.io.say(definition.usage(of: session.program)) }
            return error.status
        }
    }

    private static func evaluation(
        _ arguments: ParsedArguments, _ presented: [Certificate], _ policy: TrustPolicy
    ) throws(CommandFailure) -> TrustEvaluation {
        var evaluation = TrustEvaluation(
            presented,
            policies: [policy]
                + (try RevocationArguments.policies(arguments.values("-R")) { .usage("-R: \($0)") }),
            at: try ValidationTime.validationTime(arguments["-d"]?.text))
        let anchors = arguments.values("-r")
        evaluation.anchors = try CertificateFiles.read(anchors)
        evaluation.isAnchorsOnly = !anchors.isEmpty
        evaluation.take(TrustSettingsDomain.all)
        evaluation.revocation = try RevocationArguments.information(
            lists: arguments.values("--crl"), responses: arguments.values("--ocsp"))
        evaluation.issuers = arguments.contains("-N") ? nil : KeychainCertificates.issuers
        evaluation.fetcher = arguments.contains("-L") ? nil : .shared
        if arguments.contains("-l") { evaluation.ignoredRules = [.endEntity] }
        return evaluation
    }

    /// - Parameter served: the host whose server sent the certificates; nil for those of files.
    private static func policy(
        _ arguments: ParsedArguments, host served: String? = nil
    ) throws(CommandFailure) -> TrustPolicy {
        let (host, mail, name) = (arguments["-s"]?.text, arguments["-e"]?.text, arguments["-n"]?.text)
        let defaultPolicy = host != nil || served != nil ? "ssl" : mail != nil ? "smime" : "basic"
        switch arguments["-p"]?.text ?? defaultPolicy {
        case "ssl":
            let server = (name ?? host ?? served).map { ServerName(requested: $0) }
            return arguments.contains("-C") ? .client(server) : .server(server)
        case "smime": return .mail(address: name ?? mail)
        case "codeSign": return .codeSigning
        case "timestamping": return .timeStamping
        case "basic": return .basicX509
        case let other:
            throw .status(
                KeychainError(
                    .unimplemented, "the policy '\(other)' is not supported",
                    hint: "-p ssl, smime, codeSign, timestamping or basic"))
        }
    }

    private static func report(_ verdict: TrustVerdict, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        guard !arguments.contains("-q") else { return }
        if let failure = verdict.failure {
            let isDenied = verdict.result == .deny
            session.io.say(
                isDenied
                    ? "SecTrustEvaluate result: kSecTrustResultDeny\n"
                    : "Cert Verify Result: \(failure.rule.traditionalName)\n")
            session.io.say("security: \(verdict.explanation(failure))\n")
        } else if verdict.isTrusted {
            try session.write("...certificate verification successful.\n")
        }
        if arguments.contains("-v") { try session.write(TrustReport(verdict).text) }
        guard arguments.contains("-P") || arguments.contains("-t") || arguments.contains("-v") else { return }
        try session.write("---\nCertificate chain\n")
        for (index, certificate) in verdict.chain.enumerated() {
            try session.write(" \(index) s:\(certificate.subject)\n   i:\(certificate.issuer)\n")
            if arguments.contains("-t") { try session.write(CertificateReport(certificate).text) }
            if arguments.contains("-P") { try session.write(TerminalText(lines: PEMText.of(certificate.der))) }
        }
    }
}
