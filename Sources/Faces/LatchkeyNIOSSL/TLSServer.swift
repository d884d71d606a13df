// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import NIOSSL

/// Makes the handlers of a server's connections with TLS.
///
/// ```swift
/// let tls = try TLSServer(TLSIdentity(identity), clients: .required(.only([authority])))
/// bootstrap.childChannelInitializer { channel in
///     channel.eventLoop.makeCompletedFuture {
///         let (handler, handshake) = tls.handler()
///         try channel.pipeline.syncOperations.addHandlers(handler, Application(handshake))
///     }
/// }
/// ```
public final class TLSServer: Sendable {
    /// Whether clients show a certificate, and how it is evaluated.
    public enum ClientCertificates: Sendable {
        case notRequested
        /// Clients without a certificate are accepted; others must be trusted.
        case optional(PeerTrust)
        /// Clients without a certificate are refused.
        case required(PeerTrust)
    }

    public let clients: ClientCertificates
    private let applicationProtocols: [String]
    private let context: SystemMutex<NIOSSLContext>

    /// - Parameter applicationProtocols: for ALPN, the preferred first.
    /// - Throws: if the identity cannot be used.
    public init(
        _ identity: TLSIdentity, clients: ClientCertificates = .notRequested, applicationProtocols: [String] = []
    ) throws(TLSRefusal) {
        (self.clients, self.applicationProtocols) = (clients, applicationProtocols)
        context = SystemMutex(try Self.context(identity, clients, applicationProtocols))
    }

    /// Replaces the identity, for example after its certificate was renewed. Connections that exist
    /// keep the old one.
    public func use(_ identity: TLSIdentity) throws(TLSRefusal) {
        let replacement = try Self.context(identity, clients, applicationProtocols)
        context.withLock { $0 = replacement }
    }

    /// Returns a new handler for a connection, and the result of its handshake with the client's certificates.
    public func handler() -> (handler: NIOSSLServerHandler, handshake: TLSHandshake) {
        let context = context.withLock { $0 }
        let handshake = TLSHandshake()
        guard let trust = clients.trust else { return (NIOSSLServerHandler(context: context), handshake) }
        let verification = PeerVerification(peer: .client, trust: trust, handshake: handshake)
        let handler = NIOSSLServerHandler(
            context: context, customVerificationCallbackWithMetadata: verification.callback { nil })
        return (handler, handshake)
    }

    private static func context(
        _ identity: TLSIdentity, _ clients: ClientCertificates, _ applicationProtocols: [String]
    ) throws(TLSRefusal) -> NIOSSLContext {
        var configuration = TLSConfiguration.server(identity)
        configuration.applicationProtocols = applicationProtocols
        configuration.certificateVerification =
            switch clients {
            case .notRequested: .none
            case .optional: .optionalVerification
            case .required: .noHostnameVerification
            }
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw .identity("the identity of the server cannot be used: \(error)")
        }
    }
}

extension TLSServer.ClientCertificates {
    fileprivate var trust: PeerTrust? {
        switch self {
        case .notRequested: nil
        case .optional(let trust), .required(let trust): trust
        }
    }
}
