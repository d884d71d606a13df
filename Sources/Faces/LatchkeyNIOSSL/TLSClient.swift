// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem
public import NIOSSL
public import TransportPolicy

/// Makes the handlers of a client's connections with TLS. Each handshake is decided by Latchkey: the
/// evaluation of the server's certificates for the host, App Transport Security, and the pins.
///
/// ```swift
/// let tls = TLSClient(ConnectionPolicy(pins: pins))
/// bootstrap.channelInitializer { channel in
///     channel.eventLoop.makeCompletedFuture {
///         let (handler, handshake) = try tls.handler(for: "api.example.com")
///         try channel.pipeline.syncOperations.addHandlers(handler, Application(handshake))
///     }
/// }
/// ```
public struct TLSClient: Sendable {
    /// The requirements for the connections: App Transport Security and pins.
    public var policy: ConnectionPolicy
    /// How the certificates of servers are evaluated.
    public var trust: PeerTrust
    /// The identity for servers that ask for a certificate, after they were accepted; nil to show none.
    public var identity: TLSIdentity?
    /// The protocols for ALPN, such as `h2` and `http/1.1`, the preferred first.
    public var applicationProtocols: [String]

    public init(
        _ policy: ConnectionPolicy = ConnectionPolicy(), trust: PeerTrust = PeerTrust(),
        identity: TLSIdentity? = nil, applicationProtocols: [String] = []
    ) {
        (self.policy, self.trust, self.identity) = (policy, trust, identity)
        self.applicationProtocols = applicationProtocols
    }

    /// Returns a new handler for a connection to a host, and the result of its handshake.
    ///
    /// - Parameters:
    ///   - host: a host name or an IP address, as in a URL. A host name is sent to the server (SNI).
    ///   - purpose: the kind of content to load; only App Transport Security's switches for media and web content
    ///     depend on it.
    /// - Throws: if the policy allows no connection to the host, before any is made.
    public func handler(for host: String, purpose: LoadPurpose = .general) throws(TLSRefusal) -> (
        handler: NIOSSLClientHandler, handshake: TLSHandshake
    ) {
        try handler(for: host, purpose: purpose, review: nil)
    }

    /// Returns a new handler for a connection to a host, and the result of its handshake.
    ///
    /// - Parameters:
    ///   - host: a host name or an IP address, as in a URL.
    ///   - purpose: the kind of content to load.
    ///   - review: takes part in the handshake; nil accepts every server that the policy accepts. It gives the identity
    ///     instead of ``identity``.
    /// - Throws: if the policy allows no connection to the host, before any is made.
    package func handler(
        for host: String, purpose: LoadPurpose = .general, review: (any ServerReview)?
    ) throws(TLSRefusal) -> (handler: NIOSSLClientHandler, handshake: TLSHandshake) {
        let requirements = try requirements(host, purpose)
        let handshake = TLSHandshake()
        let verification = PeerVerification(
            peer: .server(requirements), trust: trust, handshake: handshake, review: review)
        let connection = HandlerReference()
        do {
            let handler = try NIOSSLClientHandler(
                context: try context(requirements, review, handshake), serverHostname: requirements.indicatedName,
                customVerificationCallbackWithMetadata: verification.callback { connection.handler?.tlsVersion })
            connection.handler = handler
            return (handler, handshake)
        } catch {
            throw TLSRefusal(.other, .secureConnectionFailed, "TLS cannot be configured for \(host): \(error)")
        }
    }

    /// The context of a connection. Contexts are shared, unless a review gives the identity: its
    /// callback knows the connection by its context alone.
    private func context(
        _ requirements: TLSRequirements, _ review: (any ServerReview)?, _ handshake: TLSHandshake
    ) throws -> NIOSSLContext {
        var configuration = configuration(requirements)
        guard let review else { return try TLSContexts.shared.context(configuration) }
        configuration.certificateChain = []
        configuration.privateKey = nil
        configuration.sslContextCallback = IdentityRequest(requirements.server, review, handshake).callback
        return try NIOSSLContext(configuration: configuration)
    }

    /// Returns the configuration of the connections to a host, for programs that make their own
    /// handler. It has no trust roots: without a callback that decides, every server is refused.
    ///
    /// - Throws: if the policy allows no connection to the host.
    public func configuration(for host: String, purpose: LoadPurpose = .general) throws(TLSRefusal)
        -> TLSConfiguration
    {
        configuration(try requirements(host, purpose))
    }

    /// The configuration of connections to hosts without exceptions. It has no trust roots.
    package var strictConfiguration: TLSConfiguration { configuration(TLSRequirements(.invalid(""))) }

    private func configuration(_ requirements: TLSRequirements) -> TLSConfiguration {
        var configuration = TLSConfiguration.client(requirements)
        configuration.applicationProtocols = applicationProtocols
        if let identity {
            configuration.certificateChain = identity.certificateChain
            configuration.privateKey = identity.privateKey
        }
        return configuration
    }

    private func requirements(_ host: String, _ purpose: LoadPurpose) throws(TLSRefusal) -> TLSRequirements {
        switch policy.decision(scheme: "https", host: host, purpose: purpose, at: WallClock.now) {
        case .secure(let requirements): return requirements
        case .refused(let refusal): throw TLSRefusal(refusal)
        case .plain:
            throw TLSRefusal(.other, .secureConnectionFailed, "a connection with TLS is required for \(host)")
        }
    }
}

/// Lets the callback of a handler ask the handler, on its event loop.
final class HandlerReference { weak var handler: NIOSSLHandler? }

extension TLSRequirements {
    /// The name for SNI (RFC 6066, section 3): a host name without the dot at its end, not an address.
    var indicatedName: String? {
        guard case .host(let name) = server else { return nil }
        let text = name.description
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
