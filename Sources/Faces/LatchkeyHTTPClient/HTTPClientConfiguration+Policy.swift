// SPDX-License-Identifier: Apache-2.0

public import AsyncHTTPClient
internal import CertificateTrust
public import LatchkeyNIOSSL
internal import NIOSSL
internal import TransportPolicy

extension HTTPClient.Configuration {
    /// Returns a configuration with connections that satisfy a policy, as far as async-http-client allows it.
    ///
    /// ```swift
    /// let client = HTTPClient(configuration: try .latchkey(ConnectionPolicy(pins: pins)))
    /// ```
    ///
    /// BoringSSL builds and verifies the chain, with the anchors of `trust`. Before the first request of a connection,
    /// the leaf is compared with the pins and with App Transport Security, for every name in it: the client does not
    /// state the host of a connection. Plain HTTP is refused.
    ///
    /// The configuration's `tlsConfiguration`, its two initializers of connections and
    /// `retryConnectionEstablishment` belong to the policy: a program must not replace them, nor set
    /// `tlsConfiguration` in a request.
    ///
    /// - Parameters:
    ///   - policy: App Transport Security and pins. Pins of CAs are unsupported, because the chain
    ///     cannot be read. Exceptions that lower the version of TLS or the suites have no effect.
    ///   - trust: the anchors. Revocation and certificate transparency are unsupported.
    ///   - identity: the identity for servers that ask for a certificate; nil for none.
    /// - Throws: `TLSRefusal` with ``LatchkeyNIOSSL/TLSRefusal/Reason/unsupported`` if the client
    ///   cannot enforce a requirement.
    public static func latchkey(
        _ policy: ConnectionPolicy = ConnectionPolicy(), trust: PeerTrust = PeerTrust(), identity: TLSIdentity? = nil
    ) throws(TLSRefusal) -> HTTPClient.Configuration {
        let gate = ConnectionGate(try LeafPolicy(policy, trust))
        var tls = TLSClient(policy, trust: trust, identity: identity).strictConfiguration
        tls.trustRoots = .certificates(try trust.roots())
        tls.certificateVerification = .fullVerification
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.http1_1ConnectionDebugInitializer = { gate.examine($0) }
        configuration.http2ConnectionDebugInitializer = { gate.examine($0) }
        // A refusal is the answer to the request, not a reason to connect again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

extension PeerTrust {
    /// The anchors for BoringSSL. One that BoringSSL cannot read is left out, so that chains to it are
    /// refused.
    fileprivate func roots() throws(TLSRefusal) -> [NIOSSLCertificate] {
        let certificates = anchors + (isAnchorsOnly ? [] : systemAnchors.load().certificates)
        let roots = certificates.compactMap { try? NIOSSLCertificate(bytes: $0.der, format: .der) }
        // Without roots, BoringSSL would use its own.
        guard !roots.isEmpty else { throw .unsupported("expected at least one anchor, found none that can be read") }
        return roots
    }
}
