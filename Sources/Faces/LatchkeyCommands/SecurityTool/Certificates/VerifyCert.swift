// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// The certificates that the server of a URL has sent, for ``VerifyCert``.
package struct ServedIdentity {
    package let host: String
    /// Leaf first; not empty.
    package let certificates: [Certificate]
    /// Why App Transport Security allows no connection to the server, beside its certificates; nil if it
    /// does.
    package let problem: String?

    package init(host: String, certificates: [Certificate], problem: String?) {
        (self.host, self.certificates, self.problem) = (host, certificates, problem)
    }
}

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
            With a URL, the certificates are those that its server sends, and the default policy is ssl with the host \
            of the URL. This needs latchkey-tls beside latchkey.
            """,
            """
            With a URL, and with -p ssl and a host, the stored pins of the host (latchkey pin) and App Transport \
            Security are applied, too. A line on standard error names the applied policy.
            """,
            """
            Exits with 0 if the certificate is trusted, else with 1. The second line on standard error shows the \
            expected and the found value; 'latchkey trust explain' shows more.
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
            let words = arguments.occurrences.flatMap { [CommandWord($0.option.name)] + ($0.value.map { [$0] } ?? []) }
            try CompanionProgram.transport.run(
                [CommandWord(definition.name)] + words + ["--"] + arguments.operands, in: session)
        }
        let files = arguments.paths("-c")
        guard !files.isEmpty else { throw .line("security: verify-cert: no certificate was given (-c FILE)") }
        if let keychain = arguments["-k"] { _ = try KeychainOperand.one(keychain, in: session) }
        let session = quieted(session, arguments)
        let presented = try CertificateFiles.presented(files, in: session)
        let policy = try policy(arguments)
        try verify(presented, arguments, policy, try hostPolicy(policy, served: nil), in: session)
    }

    /// Returns the session. With `-q`, it suppresses warnings.
    private static func quieted(_ session: CommandSession, _ arguments: ParsedArguments) -> CommandSession {
        var session = session
        session.isQuiet = session.isQuiet || arguments.contains("-q")
        return session
    }

    private static func verify(
        _ presented: [Certificate], _ arguments: ParsedArguments, _ policy: TrustPolicy, _ host: HostPolicy?,
        served: ServedIdentity? = nil, in session: CommandSession
    ) throws(CommandFailure) {
        let verdict = try evaluation(arguments, presented, policy, in: session).verdict()
        let violations = (served?.problem.map { [$0] } ?? []) + (host?.violations(verdict, presented) ?? [])
        let applied = host.map { $0.applied + [HostPolicy.trust(anchors: arguments.paths("-r"))] } ?? []
        try report(TrustReport(verdict, applied: applied, violations: violations), verdict, arguments, in: session)
        for problem in verdict.revocationProblems { session.warn("warning: revocation: \(problem)") }
        if !applied.isEmpty { session.warn("applied: \(applied.joined(separator: "; "))") }
        if !verdict.isTrusted || !violations.isEmpty { throw .reported(1) }
    }

    /// Returns the requirements for the server that the policy names, or that has sent the fetched certificates; nil if
    /// there is none.
    private static func hostPolicy(_ policy: TrustPolicy, served: String?) throws(CommandFailure) -> HostPolicy? {
        if case .server(let name?) = policy { return try HostPolicy(host: "\(name)", stored: StoredPins()) }
        return try served.map { (host) throws(CommandFailure) in try HostPolicy(host: host, stored: StoredPins()) }
    }

    /// Runs the command for a URL.
    ///
    /// - Parameters:
    ///   - words: the options and the URL.
    ///   - fetch: gets the host of the URL, and the certificates of its server.
    /// - Returns: the status; 0 is success.
    package static func execute(
        _ words: [CommandWord], in session: CommandSession,
        fetch: (String) throws(CommandFailure) -> ServedIdentity
    ) -> Int32 {
        do throws(CommandFailure) {
            let arguments = try definition.parse(words[...])
            guard let url = arguments.operands.first, arguments.operands.count == 1 else {
                throw .usage("one URL is expected")
            }
            guard arguments.values("-c").isEmpty else { throw .usage("-c and a URL exclude each other") }
            let served = try fetch(url.text)
            let policy = try policy(arguments, host: served.host)
            let host = try hostPolicy(policy, served: served.host)
            try verify(
                served.certificates, arguments, policy, host, served: served, in: quieted(session, arguments))
            return 0
        } catch {
            session.report(error, of: definition.name)
            if case .usage = error { session.io.say(definition.usage(of: session.program)) }
            return error.status
        }
    }

    private static func evaluation(
        _ arguments: ParsedArguments, _ presented: [Certificate], _ policy: TrustPolicy, in session: CommandSession
    ) throws(CommandFailure) -> TrustEvaluation {
        var evaluation = TrustEvaluation(
            presented,
            policies: [policy]
                + (try RevocationArguments.policies(arguments.values("-R")) { .usage("-R: \($0)") }),
            at: try ValidationTime.validationTime(arguments["-d"]?.text))
        let anchors = arguments.paths("-r")
        evaluation.anchors = try CertificateFiles.read(anchors, in: session)
        evaluation.isAnchorsOnly = !anchors.isEmpty
        evaluation.take(TrustSettingsDomain.all)
        evaluation.revocation = try RevocationArguments.information(
            lists: arguments.paths("--crl"), responses: arguments.paths("--ocsp"))
        evaluation.issuers = arguments.contains("-N") ? nil : KeychainCertificates.issuers
        evaluation.fetcher = arguments.contains("-L") ? nil : .shared
        if arguments.contains("-l") { evaluation.ignoredRules = [.endEntity] }
        return evaluation
    }

    /// - Parameter served: the host that sent the certificates; nil for certificates of files.
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

    private static func report(
        _ report: TrustReport, _ verdict: TrustVerdict, _ arguments: ParsedArguments, in session: CommandSession
    ) throws(CommandFailure) {
        guard !arguments.contains("-q") else { return }
        if let failure = verdict.failure {
            let isDenied = verdict.result == .deny
            session.io.say(
                isDenied
                    ? "SecTrustEvaluate result: kSecTrustResultDeny\n"
                    : "Cert Verify Result: \(failure.rule.traditionalName)\n")
            session.io.say("security: \(verdict.explanation(failure))\n")
        } else if !report.violations.isEmpty {
            session.io.say("Cert Verify Result: CSSMERR_TP_VERIFY_ACTION_FAILED\n")
            for violation in report.violations { session.io.say("security: \(violation)\n") }
        } else if verdict.isTrusted {
            try session.write("...certificate verification successful.\n")
        }
        if arguments.contains("-v") { try session.write(report.text) }
        guard arguments.contains("-P") || arguments.contains("-t") || arguments.contains("-v") else { return }
        try session.write("---\nCertificate chain\n")
        for (index, certificate) in verdict.chain.enumerated() {
            try session.write(" \(index) s:\(certificate.subject)\n   i:\(certificate.issuer)\n")
            if arguments.contains("-t") { try session.write(CertificateReport(certificate).text) }
            if arguments.contains("-P") { try session.write(TerminalText(lines: PEMText.of(certificate.der))) }
        }
    }
}
