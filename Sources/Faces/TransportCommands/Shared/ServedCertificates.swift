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
    static func fetch(_ url: String) throws(CommandFailure) -> (host: String, certificates: [Certificate]) {
        let (scheme, address) = try ServerAddress.ofURL(url)
        guard scheme == "https" else { throw .parameter("expected a URL with https, found '\(url.prefix(100))'") }
        // The trust of the certificates is decided afterwards, so that no version is too old here.
        let settings = AppTransportSecurity.reading(.dictionary(["NSAllowsArbitraryLoads": .boolean(true)])).settings
        let probe = HandshakeProbe(
            client: TLSClient(ConnectionPolicy(settings), trust: .only([])), server: address, timeout: 15)
        switch probe.run().outcome {
        case .accepted(let peer): return (address.host, peer.served)
        case .refused(let refusal) where !refusal.served.isEmpty: return (address.host, refusal.served)
        case .refused(let refusal): throw unavailable(address, refusal.explanation)
        case .unreachable(let reason): throw unavailable(address, reason)
        }
    }

    private static func unavailable(_ address: ServerAddress, _ reason: String) -> CommandFailure {
        .status(KeychainError(.notAvailable, "\(address) sent no certificates: \(reason)"))
    }
}
