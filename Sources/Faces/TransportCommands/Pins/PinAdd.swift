// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey pin add`.
struct PinAdd: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Store the pins of a host in the keychain.",
        discussion: """
            Stores the given pins. With --first-use instead, connects to the host and stores the key that it has now: \
            nothing proves that it is the right one, except that its certificate is trusted. The command names the \
            stored key. Existing pins are never replaced, and a server that violates those of a domain above is \
            refused.

            Without a backup pin, the pins must be changed before the server's key is.

            EXAMPLES:
              latchkey pin add --pin sha256/… --backup sha256/… api.example.com
              latchkey pin add --first-use --placement ca example.com
              latchkey pin add --dry-run --first-use example.com
            """)

    enum Placement: String, ExpressibleByArgument, CaseIterable, Sendable {
        case leaf, ca, any

        var value: PinPlacement {
            switch self {
            case .leaf: .leaf
            case .ca: .certificateAuthority
            case .any: .anywhere
            }
        }
    }

    @Option(help: ArgumentHelp("A pin: sha256/ and base64; may be repeated.", valueName: "pin"))
    var pin: [String] = []

    @Option(help: ArgumentHelp("The pin of a key that is not in use yet; may be repeated.", valueName: "pin"))
    var backup: [String] = []

    @Flag(help: "Trust on first use: store the key that the host has now.")
    var firstUse = false

    @Option(help: ArgumentHelp("The port for --first-use.", valueName: "number"))
    var port = 443

    @Flag(help: "Also for names with one more label.")
    var includeSubdomains = false

    @Option(
        help: ArgumentHelp(
            "The certificates to compare with: leaf, ca (any CA of the chain) or any.", valueName: "placement"))
    var placement = Placement.leaf

    @Option(help: ArgumentHelp("The access group of the item.", valueName: "group"))
    var accessGroup: String?

    @Flag(name: [.customShort("n"), .long], help: "Only show the pins that would be stored.")
    var dryRun = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions

    @Argument(help: ArgumentHelp("The domain of the pins.", valueName: "host"))
    var host: String

    func validate() throws {
        guard firstUse != !pin.isEmpty else {
            throw ValidationError("give the pins with --pin, or take the present key with --first-use")
        }
        guard 1...65_535 ~= port else { throw ValidationError("--port must be between 1 and 65535") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.unlockOnDemand(in: session)
        var pins: [Pin] = []
        for text in pin + backup { pins.append(try Self.parsed { () throws(TransportPolicyError) in try Pin(text) }) }
        let domain = try Self.parsed { () throws(TransportPolicyError) in try DomainName(host) }
        if firstUse { pins.append(try firstUsedPin(of: domain, in: session)) }
        let record = try Self.parsed { () throws(TransportPolicyError) in
            try HostPins(
                domain, subdomains: includeSubdomains ? .oneLevel : .none, PinRequirement(placement.value, pins),
                origin: firstUse ? .firstUse : .given, created: WallClock.seconds)
        }
        if pins.count < 2 {
            session.io.say("latchkey: warning: \(domain) has only one pin\n")
            session.io.say("hint: --backup names the pin of a key that is not in use\n")
        }
        guard !dryRun else { return try session.write("would store \(PinText.line(record))\n") }
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try StoredPins(accessGroup: accessGroup).add(record)
        }
        session.io.say("latchkey: stored \(PinText.line(record))\n")
    }

    /// The key that the server has now.
    ///
    /// - Throws: if the server's certificates are not trusted, or violate stored pins that include the
    ///   domain; such a key is never stored.
    private func firstUsedPin(of domain: DomainName, in session: CommandSession) throws(CommandFailure) -> Pin {
        let server = ServerAddress(host: domain.description, port: port)
        let policy = try HostPolicy(host: server.host, stored: StoredPins(accessGroup: accessGroup))
        switch try connection.probe(policy.policy, server, in: session).run().outcome {
        case .accepted(let peer):
            let chain = peer.chain?.certificates ?? []
            // The issuer of the leaf: the only CA of a chain of two certificates.
            let pinned = placement == .ca ? chain.dropFirst().first : chain.first
            guard let pinned else {
                throw .parameter("the chain of \(server) has no CA", hint: "--placement leaf")
            }
            session.io.say(
                "latchkey: on first use, \(server) has the key of \(pinned.subjectSummary ?? "no name"): \(Pin(pinned))\n"
            )
            return Pin(pinned)
        case .refused(let refusal):
            session.io.say("latchkey: \(server) is refused, so its key is not stored: \(refusal.explanation)\n")
            throw .serverRefused
        case .unreachable(let reason):
            session.io.say("latchkey: there is no connection to \(server): \(reason)\n")
            throw .unreachable
        }
    }

    static func parsed<Value>(
        _ body: () throws(TransportPolicyError) -> Value
    ) throws(CommandFailure) -> Value {
        try withErrors(as: CommandFailure.init, body)
    }
}
