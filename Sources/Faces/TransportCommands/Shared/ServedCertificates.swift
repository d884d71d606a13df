// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyCommands
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// The certificates that a server sends, for `verify-cert`.
enum ServedCertificates {
    /// Connects, and takes the certificates whether they are trusted or not. Nothing else is sent.
    ///
    /// - Throws: errSecNotAvailable if there is no connection or no certificate.
    static func fetch(_ url: String) throws(CommandFailure) -> ServedIdentity {
        let (scheme, address) = try ServerAddress.ofURL(url)
        guard scheme == "https" else { throw .parameter("expected a URL with https, found '\(url.prefix(100))'") }
        let strict = outcome(address, .strict)
        // Trust is decided afterwards. A server that App Transport Security allows no connection to sends
        // its certificates to a more lenient client.
        guard let problem = problem(strict) else { return try identity(address, strict, nil) }
        let settings = AppTransportSecurity.reading(.dictionary(["NSAllowsArbitraryLoads": .boolean(true)])).settings
        return try identity(address, outcome(address, settings), problem)
    }

    private static func outcome(
        _ address: ServerAddress, _ settings: AppTransportSecurity
    ) -> HandshakeProbe.Result.Outcome {
        HandshakeProbe(
            client: TLSClient(ConnectionPolicy(settings), trust: .only([])), server: address, timeout: 15
        ).run().outcome
    }

    /// Why there was no connection with the server; nil if it sent certificates, or cannot be reached.
    private static func problem(_ outcome: HandshakeProbe.Result.Outcome) -> String? {
        guard case .refused(let refusal) = outcome, refusal.served.isEmpty else { return nil }
        return refusal.explanation
    }

    private static func identity(
        _ address: ServerAddress, _ outcome: HandshakeProbe.Result.Outcome, _ problem: String?
    ) throws(CommandFailure) -> ServedIdentity {
        switch outcome {
        case .accepted(let peer):
            return ServedIdentity(host: address.host, certificates: peer.served, problem: problem)
        case .refused(let refusal) where !refusal.served.isEmpty:
            return ServedIdentity(host: address.host, certificates: refusal.served, problem: problem)
        case .refused(let refusal): throw unavailable(address, refusal.explanation)
        case .unreachable(let reason): throw unavailable(address, reason)
        }
    }

    private static func unavailable(_ address: ServerAddress, _ reason: String) -> CommandFailure {
        .status(KeychainError(.notAvailable, "\(address) sent no certificates: \(reason)"))
    }
}
