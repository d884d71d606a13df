// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `latchkey trust explain`.
struct TrustExplain: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show every chain that was tried for a certificate, and why each was rejected.",
        discussion: """
            Evaluates the first certificate; the others, and those after it in its file, help to find a chain. Other \
            issuers are searched for in the keychain. With --host, the stored pins of the host (latchkey pin) and \
            App Transport Security are applied, too. Exits with 0 only if the certificate is trusted and satisfies \
            them.

            EXAMPLES:
              latchkey trust explain --host example.com server.pem
              latchkey trust explain --policy mail --name alice@example.com \\
                  --anchors ca.pem alice.pem
              openssl s_client -connect example.com:443 -showcerts </dev/null \\
                  | latchkey trust explain --host example.com
            """)

    @Option(help: ArgumentHelp("The name of the server.", valueName: "name"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "server, client, mail, code, time or basic; default: server with --host, else basic.", valueName: "policy"))
    var policy: String?

    @Option(help: ArgumentHelp("The email address, or the client's host.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A file of anchors, used instead of the system's; may be repeated.", valueName: "file"), completion: .file()
    )
    var anchors: [FilePath] = []

    @Flag(help: "Also use the system's anchors.")
    var withSystem = false

    @Option(help: ArgumentHelp("The validation time, YYYY-MM-DD or YYYY-MM-DD-hh:mm:ss in UTC.", valueName: "date"))
    var date: String?

    @Option(
        help: ArgumentHelp(
            "The revocation check: none, offline, crl, ocsp or require; may be repeated.",
            valueName: "check"))
    var revocation: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "Files in PEM or DER; the default is standard input.", completion: .file())
    var files: [FilePath] = ["-"]

    func run(in session: CommandSession) throws(CommandFailure) {
        let presented = try CertificateFiles.presented(files, in: session)
        let chosen = try chosenPolicy()
        var evaluation = TrustEvaluation(
            presented,
            policies: [chosen]
                + (try RevocationArguments.policies(revocation) { .parameter("--revocation: \($0)") }),
            at: try ValidationTime.validationTime(date))
        evaluation.anchors = try CertificateFiles.read(anchors, in: session)
        evaluation.isAnchorsOnly = !anchors.isEmpty && !withSystem
        evaluation.issuers = KeychainCertificates.issuers
        evaluation.fetcher = .shared
        evaluation.take(TrustSettingsDomain.all)
        let verdict = evaluation.verdict()
        let host = try hostPolicy(chosen)
        let violations = host?.violations(verdict, presented) ?? []
        let applied = host.map { $0.applied + [HostPolicy.trust(anchors: anchors, withSystem: withSystem)] } ?? []
        let report = TrustReport(verdict, applied: applied, violations: violations)
        try session.write(json ? JSONText.of(report) : report.text)
        if let failure = verdict.failure { throw .reported(failure.rule.status.rawValue) }
        if !violations.isEmpty { throw .reported(OSStatusCode.verifyActionFailed.rawValue) }
    }

    /// Returns the requirements for the server that the policy names; nil if it names none.
    private func hostPolicy(_ policy: TrustPolicy) throws(CommandFailure) -> HostPolicy? {
        guard case .server(let name?) = policy else { return nil }
        return try HostPolicy(host: "\(name)", stored: StoredPins())
    }

    private func chosenPolicy() throws(CommandFailure) -> TrustPolicy {
        guard host == nil || name == nil else { throw .parameter("--host and --name exclude each other") }
        switch policy ?? (host == nil ? "basic" : "server") {
        case "server": return .server((host ?? name).map { ServerName(requested: $0) })
        case "client": return .client((host ?? name).map { ServerName(requested: $0) })
        case "mail" where host == nil: return .mail(address: name)
        case "code" where host == nil && name == nil: return .codeSigning
        case "time" where host == nil && name == nil: return .timeStamping
        case "basic" where host == nil && name == nil: return .basicX509
        case "mail", "code", "time", "basic": throw .parameter("this policy does not accept the given --host or --name")
        case let other:
            throw .parameter("unknown policy '\(other)'", hint: "server, client, mail, code, time or basic")
        }
    }
}
