// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey ats diagnostics`.
struct ATSDiagnostics: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnostics", abstract: "Find the App Transport Security exceptions that a URL needs.",
        discussion: """
            Connects with each combination of exceptions, as nscurl --ats-diagnostics does on macOS, and shows the \
            dictionary and the result. PASS means that the connection is made: for https, that the handshake is \
            accepted; for http, that the policy allows it and the server can be reached. Nothing is requested. \
            Combinations that require the same of a handshake share one connection. The stored pins of the host \
            (latchkey pin) are applied in every combination.

            Exits with 0 if the default settings pass, 1 if they do not, and 3 if there is no connection.

            EXAMPLES:
              latchkey ats diagnostics https://example.com
              latchkey ats diagnostics --verbose https://example.com:8443
              latchkey ats diagnostics --json https://example.com \\
                  | jq '.cases[] | select(.passed) | .title'
            """)

    @Flag(help: "Also show why a combination fails.")
    var verbose = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions

    @Argument(help: "A URL with https or http.")
    var url: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let (scheme, server) = try ServerAddress.ofURL(url)
        passcode.unlockOnDemand(in: session)
        let host = try HostPolicy(host: server.host, stored: StoredPins())
        // App Transport Security differs between the combinations.
        let applied = host.applied.dropFirst() + [connection.appliedTrust]
        session.warn("applied: \(applied.joined(separator: "; "))")
        var runner = DiagnosticsRunner(
            scheme: scheme, server: server, pins: host.policy.storedPins, options: connection, session: session)
        var report = DiagnosticsReport(url: url, applied: Array(applied), cases: [])
        for item in DiagnosticsCase.all(for: server.host) {
            let failure = try runner.failure(of: item)
            report.cases.append(
                DiagnosticsReport.Case(
                    title: item.title, dictionary: item.text, passed: failure == nil, reason: failure))
        }
        try session.write(json ? try JSONText.of(report) : report.text(isVerbose: verbose))
        if runner.isUnreachable { throw .unreachable }
        if report.cases.first?.passed != true { throw .serverRefused }
    }
}

/// Tries the combinations, each handshake once.
private struct DiagnosticsRunner {
    let scheme: String
    let server: ServerAddress
    /// The stored pins.
    let pins: PinConfiguration
    let options: ConnectionOptions
    let session: CommandSession
    /// The failures of the handshakes until now; nil for one that was accepted.
    private var known: [TLSRequirements: String?] = [:]
    /// Whether no connection could be made at all.
    private(set) var isUnreachable = false

    init(
        scheme: String, server: ServerAddress, pins: PinConfiguration, options: ConnectionOptions,
        session: CommandSession
    ) {
        (self.scheme, self.server, self.pins) = (scheme, server, pins)
        (self.options, self.session) = (options, session)
    }

    /// Why a combination fails; nil if it passes.
    mutating func failure(of item: DiagnosticsCase) throws(CommandFailure) -> String? {
        let settings = AppTransportSecurity.reading(item.dictionary).settings
        var policy = ConnectionPolicy(settings)
        policy.storedPins = pins
        switch policy.decision(scheme: scheme, host: server.host, at: WallClock.now) {
        case .refused(let refusal): return refusal.explanation
        case .plain: return PlainProbe(server: server, connectHost: options.connectTo, timeout: options.timeout).run()
        case .secure(let requirements):
            if let failure = known[requirements] { return failure }
            let failure = try secureFailure(policy)
            known[requirements] = .some(failure)
            return failure
        }
    }

    private mutating func secureFailure(_ policy: ConnectionPolicy) throws(CommandFailure) -> String? {
        guard !isUnreachable else { return "there is no connection" }
        switch try options.probe(policy, server, in: session).run().outcome {
        case .accepted: return nil
        case .refused(let refusal): return refusal.explanation
        case .unreachable(let reason):
            isUnreachable = true
            return reason
        }
    }
}

/// The report of `latchkey ats diagnostics`, in the shape of its JSON.
struct DiagnosticsReport: Encodable {
    var url: String
    /// The requirements in each case, one sentence each: pins and trust.
    var applied: [String]
    var cases: [Case]

    struct Case: Encodable {
        var title: String
        var dictionary: String
        var passed: Bool
        /// Nil if it passed.
        var reason: String?
    }

    func text(isVerbose: Bool) -> TerminalText {
        cases.map { item -> TerminalText in
            let reason: TerminalText =
                isVerbose ? item.reason.map { "Reason : \(TerminalText($0, maxLength: 1000))\n" } ?? "" : ""
            return """
                ---
                \(item.title)
                ATS Dictionary: \(TerminalText(item.dictionary, maxLength: 1000))
                Result : \(item.passed ? "PASS" : "FAIL")

                """ + reason
        }.joined() + "---\n"
    }
}
