// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import LatchkeyClient
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

            The server is checked as by a program with App Transport Security and the stored pins (latchkey pin); the \
            report names the applied policy.

            Exits with 0 if the server is accepted, 1 if it is refused, 2 for a wrong command line, and 3 if there is \
            no connection.

            EXAMPLES:
              latchkey tls check example.com
              latchkey tls check --pin sha256/… --pin sha256/… api.example.com:8443
              latchkey tls check --ats Info.plist --json example.com | jq .steps
            """)

    @Option(
        help: ArgumentHelp(
            "A pin that a certificate of the chain must have, beside the stored ones; may be repeated.",
            valueName: "pin"))
    var pin: [String] = []

    @Flag(help: "Check the server as a program that does not use the stored pins.")
    var ignoreStoredPins = false

    @Option(
        help: ArgumentHelp("An Info.plist with App Transport Security settings.", valueName: "file"),
        completion: .file())
    var ats: String?

    @Flag(help: "Check revocation: evidence is fetched as the certificates name it.")
    var revocation = false

    @Option(help: ArgumentHelp("The access group of the stored pins.", valueName: "group"))
    var accessGroup: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("The server; the default port is 443.", valueName: "host[:port]"))
    var server: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let server = try ServerAddress(server)
        passcode.unlockOnDemand(in: session)
        let host = try hostPolicy(for: server.host, in: session)
        var probe = try connection.probe(host.policy, server, in: session)
        probe.client.trust.revocation = revocation ? [.ocsp, .lists] : nil
        probe.client.applicationProtocols = ["h2", "http/1.1"]
        let steps = CheckSteps(probe: probe, result: probe.run(), requirements: host.policy.requirements(server.host))
        let report = CheckReport(steps, applied: host.applied + [connection.appliedTrust])
        try session.write(json ? try JSONText.of(report) : report.text)
        if case .unreachable = steps.result.outcome { throw .unreachable }
        if !report.accepted { throw .serverRefused }
    }

    private func hostPolicy(for host: String, in session: CommandSession) throws(CommandFailure) -> HostPolicy {
        let (settings, pins): ((file: String, value: AppTransportSecurity)?, PinConfiguration?)
        do throws(TransportPolicyError) {
            let reading = try ats.map { (file) throws(TransportPolicyError) in
                (file: file, value: try AppTransportSecurity.reading(file: file))
            }
            for finding in reading?.value.findings ?? [] where finding.severity == .error {
                session.warn("\(ats ?? ""): \(finding.path): \(finding.problem)")
            }
            settings = reading.map { ($0.file, $0.value.settings) }
            pins = try givenPins(for: host)
        } catch {
            throw CommandFailure(error)
        }
        let stored = ignoreStoredPins ? nil : StoredPins(accessGroup: accessGroup)
        return try HostPolicy(host: host, settings: settings, pins: pins, stored: stored)
    }

    /// The pins of the command line; nil if there are none.
    private func givenPins(for host: String) throws(TransportPolicyError) -> PinConfiguration? {
        guard !pin.isEmpty else { return nil }
        var pins: [Pin] = []
        for text in pin { pins.append(try Pin(text)) }
        return try PinConfiguration([
            PinSet(DomainRule(DomainName(host)), [PinRequirement(.anywhere, pins)], requiresBackup: false)
        ])
    }
}

extension ConnectionPolicy {
    /// Returns the policy's requirements for a host now; nil if it refuses it.
    func requirements(_ host: String) -> TLSRequirements? {
        guard case .secure(let requirements) = decision(scheme: "https", host: host, at: WallClock.now) else {
            return nil
        }
        return requirements
    }
}
