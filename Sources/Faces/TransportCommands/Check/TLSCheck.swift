// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey tls check`.
struct TLSCheck: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Connect to a server, and show the result of every check.",
        discussion: """
            Shows each step in order: the policy, the connection, the version of TLS, the chain, the name, the dates, \
            revocation, pins, the strength of the certificate, cipher suites and ALPN, with the reason of a failure. \
            Only the handshake is made; nothing is requested. The certificates are shown with their pins.

            Exits with 0 if the server is accepted, 1 if it is refused, 2 for a wrong command line, and 3 if there is \
            no connection.

            EXAMPLES:
              latchkey tls check example.com
              latchkey tls check --pin sha256/… --pin sha256/… api.example.com:8443
              latchkey tls check --ats Info.plist --json example.com | jq .steps
            """)

    @Option(help: ArgumentHelp("A pin that a certificate of the chain must have; may be repeated.", valueName: "pin"))
    var pin: [String] = []

    @Option(
        help: ArgumentHelp("An Info.plist with App Transport Security settings.", valueName: "file"),
        completion: .file())
    var ats: String?

    @Flag(help: "Check revocation: evidence is fetched as the certificates name it.")
    var revocation = false

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("The server; the default port is 443.", valueName: "host[:port]"))
    var server: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let server = try ServerAddress(server)
        let policy = try policy(for: server.host, in: session)
        var probe = try connection.probe(policy, server)
        probe.client.trust.revocation = revocation ? [.ocsp, .lists] : nil
        probe.client.applicationProtocols = ["h2", "http/1.1"]
        let steps = CheckSteps(probe: probe, result: probe.run(), requirements: policy.requirements(server.host))
        let report = CheckReport(steps)
        try session.write(json ? try JSONText.of(report) : report.text)
        if case .unreachable = steps.result.outcome { throw .unreachable }
        if !report.accepted { throw .serverRefused }
    }

    private func policy(for host: String, in session: CommandSession) throws(CommandFailure) -> ConnectionPolicy {
        do throws(TransportPolicyError) {
            let reading = try ats.map { (file) throws(TransportPolicyError) in
                try AppTransportSecurity.reading(file: file)
            }
            for finding in reading?.findings ?? [] where finding.severity == .error {
                session.warn("\(ats ?? ""): \(finding.path): \(finding.problem)")
            }
            guard !pin.isEmpty else { return ConnectionPolicy(reading?.settings ?? .strict) }
            var pins: [Pin] = []
            for text in pin { pins.append(try Pin(text)) }
            let set = try PinSet(
                DomainRule(DomainName(host)), [PinRequirement(.anywhere, pins)], requiresBackup: false)
            return ConnectionPolicy(reading?.settings ?? .strict, pins: try PinConfiguration([set]))
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension ConnectionPolicy {
    /// What the policy requires of a host now; nil if it refuses it.
    func requirements(_ host: String) -> TLSRequirements? {
        guard case .secure(let requirements) = decision(scheme: "https", host: host, at: WallClock.now) else {
            return nil
        }
        return requirements
    }
}
