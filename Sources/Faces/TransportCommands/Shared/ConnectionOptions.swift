// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// The options of commands that connect to a server.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file of anchors, used instead of the system's; may be repeated.", valueName: "file"), completion: .file()
    )
    var ca: [FilePath] = []

    @Option(help: ArgumentHelp("Connect to this address instead of the host's.", valueName: "address"))
    var connectTo: String?

    @Option(help: ArgumentHelp("The maximum time of the connection and the handshake.", valueName: "seconds"))
    var timeout = 15

    func validate() throws {
        guard 1...600 ~= timeout else { throw ValidationError("--timeout must be between 1 and 600") }
    }

    /// How servers are evaluated.
    func trust(in session: CommandSession) throws(CommandFailure) -> PeerTrust {
        PeerTrust(anchors: try CertificateFiles.read(ca, in: session), isAnchorsOnly: !ca.isEmpty)
    }

    func probe(
        _ policy: ConnectionPolicy, _ server: ServerAddress, in session: CommandSession
    ) throws(CommandFailure) -> HandshakeProbe {
        HandshakeProbe(
            client: TLSClient(policy, trust: try trust(in: session)), server: server, connectHost: connectTo,
            timeout: timeout)
    }

    /// The anchors that are trusted, as a sentence of a report.
    var appliedTrust: String {
        ca.isEmpty
            ? "trust in the system's anchors and the trust settings, with the certificates of the keychain"
            : "trust in the anchors of \(ca.map(\.description).joined(separator: ", ")) alone, without trust settings"
    }
}

extension CommandFailure {
    /// The exit values of commands that connect: 1 if the server is refused, 3 if there is no
    /// connection.
    static let serverRefused = CommandFailure.reported(1)
    static let unreachable = CommandFailure.reported(3)

    init(_ error: TransportPolicyError) {
        self = .parameter(error.problem, hint: error.hint)
    }
}
