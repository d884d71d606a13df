// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey pin report`.
struct PinReport: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Connect to a host, and compare it with its stored pins.",
        discussion: """
            Counts a failure in the record if the server is trusted but has no pinned key, and otherwise notes when \
            it was seen. Exits with 0 if a pinned key was found, 1 if the server is refused, and 3 if there is no \
            connection.

            EXAMPLES:
              latchkey pin report api.example.com
              latchkey pin report --json api.example.com:8443
            """)

    @Option(help: ArgumentHelp("The access group of the item.", valueName: "group"))
    var accessGroup: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions

    @Argument(help: ArgumentHelp("The server; the default port is 443.", valueName: "host[:port]"))
    var server: String

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        let server = try ServerAddress(server)
        let host = try PinAdd.parsed { () throws(TransportPolicyError) in try DomainName(server.host) }
        let stored = StoredPins(accessGroup: accessGroup)
        let record = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try stored.pins(for: host) }
        guard let record else {
            throw .status(
                KeychainError(.itemNotFound, "\(host) has no stored pins", hint: "latchkey pin add \(host)"))
        }
        let policy = try HostPolicy(host: server.host, stored: stored)
        let outcome = try connection.probe(policy.policy, server, in: session).run().outcome
        let comparison = PinComparison(
            outcome, record, server, applied: policy.applied + [connection.appliedTrust])
        if let isMatch = comparison.isMatch {
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try stored.update(record.recording(isMatch: isMatch, at: WallClock.seconds))
            }
        }
        try session.write(json ? try JSONText.of(comparison) : comparison.text)
        if case .unreachable = outcome { throw .unreachable }
        if comparison.result != .matched { throw .serverRefused }
    }
}

/// The report of `latchkey pin report`, in the shape of its JSON.
struct PinComparison: Encodable {
    enum Result: String, Encodable {
        case matched
        /// The server is trusted, but has no pinned key.
        case mismatched
        /// The server is refused for another reason, so that its pins were not compared.
        case refused
        case unreachable
    }

    var host: String
    var port: Int
    var result: Result
    /// The expected and the found state; nil for a match.
    var reason: String?
    /// The pins of the chain that was compared, or of the certificates that were sent, leaf first.
    var found: [String]
    var stored: PinRecordReport
    /// The requirements for the server, one sentence each.
    var applied: [String]

    init(
        _ outcome: HandshakeProbe.Result.Outcome, _ record: HostPins, _ server: ServerAddress, applied: [String]
    ) {
        (host, port, stored, self.applied) = (server.host, server.port, PinRecordReport(record), applied)
        switch outcome {
        case .accepted(let peer):
            (result, found) = (.matched, (peer.chain?.certificates ?? []).map { Pin($0).description })
        case .refused(let refusal):
            let failure = refusal.pinFailures.first
            result = failure == nil ? .refused : .mismatched
            found = failure?.validated.map(\.pin.description) ?? refusal.served.map { Pin($0).description }
            reason = refusal.explanation
        case .unreachable(let problem):
            (result, found, reason) = (.unreachable, [], problem)
        }
    }

    /// Whether the pins matched; nil if they were not compared.
    var isMatch: Bool? {
        switch result {
        case .matched: true
        case .mismatched: false
        case .refused, .unreachable: nil
        }
    }

    var text: TerminalText {
        let reason: TerminalText = reason.map { ": \(TerminalText($0, maxLength: 1000))" } ?? ""
        let heading: TerminalText = "\(result.rawValue)\(reason)\n"
        return heading + found.map { "  found   \($0)\n" as TerminalText }.joined()
            + stored.pins.map { "  stored  \($0)\n" as TerminalText }.joined()
            + applied.map { "  applied \(TerminalText($0, maxLength: 1000))\n" as TerminalText }.joined()
    }
}
