// SPDX-License-Identifier: Apache-2.0

package import LatchkeyNIOSSL
internal import LinuxSystem
package import NIOCore
internal import TransportPolicy

/// Connections of HTTP/1.1 and HTTP/2, pooled and reused, with one policy.
package final class HTTPConnections: Sendable {
    package struct Configuration: Sendable {
        package var policy = ConnectionPolicy()
        package var trust = PeerTrust()
        package var proxies = HTTPProxies.none
        package var limits = HTTPLimits()
        /// For HTTP/1.1; requests beyond it wait.
        package var maxConnectionsPerHost = 6
        /// For the connection itself, for a proxy's answer, and for the handshake, without the time that
        /// a program takes to decide about a server.
        package var connectTimeout = TimeAmount.seconds(60)
        /// How long an unused connection is kept.
        package var idleTimeout = TimeAmount.seconds(60)
        package init() {}
    }

    private let configuration: Configuration
    private let client: TLSClient
    private let pools = SystemMutex((pools: [PoolKey: ConnectionPool](), isClosed: false))

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        client = TLSClient(
            configuration.policy, trust: configuration.trust, applicationProtocols: ["h2", "http/1.1"])
    }

    /// Exchanges that have a response go on.
    deinit { for pool in removeAll() { pool.retire() } }

    /// Sends a request and returns when the head of the final response has arrived. Redirects, 401 and
    /// 407 are responses like others.
    ///
    /// - Parameters:
    ///   - request: a body that is a stream is read once.
    ///   - review: asked in each handshake; nil accepts every server that the policy accepts, and shows no certificate.
    ///   - inactivity: the longest time without a byte in either direction, after the connection is made.
    ///   - purpose: the kind of content to load, for App Transport Security.
    ///   - proxyAuthorization: the value of `Proxy-Authorization`, for the proxy only; nil for that of the proxy's URL.
    ///   - sent: called with the number of bytes of the body that were sent until now.
    package func exchange(
        _ request: HTTPRequest, review: (any ServerReview)? = nil, inactivity: TimeAmount = .seconds(60),
        purpose: LoadPurpose = .general, proxyAuthorization: String? = nil, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws(HTTPFailure) -> HTTPExchange {
        try checkPolicy(request.target, purpose)
        let proxy = configuration.proxies.proxy(for: request.target)?.authorized(proxyAuthorization)
        let pool = try pool(PoolKey(request.target, proxy, purpose, review))
        let attempt = ExchangeAttempt(
            request: request, review: review, inactivity: inactivity, purpose: purpose, sent: sent, proxy: proxy,
            pool: pool, client: client, configuration: configuration)
        do throws(AttemptFailure) {
            return try await attempt.run()
        } catch {
            guard attempt.mayRepeat(after: error), !Task.isCancelled else { throw error.failure }
        }
        pool.closeIdle()
        do throws(AttemptFailure) { return try await attempt.run() } catch { throw error.failure }
    }

    /// The proxy for a target; nil for a direct connection.
    package func proxy(for target: HTTPTarget) -> HTTPProxyPlace? {
        configuration.proxies.proxy(for: target)?.place
    }

    /// Ends all connections; later requests fail.
    package func close() async { for pool in removeAll() { pool.close() } }

    private func removeAll() -> [ConnectionPool] {
        pools.withLock { state in
            state.isClosed = true
            defer { state.pools = [:] }
            return Array(state.pools.values)
        }
    }

    private func checkPolicy(_ target: HTTPTarget, _ purpose: LoadPurpose) throws(HTTPFailure) {
        let now = WallClock.now
        let decision = configuration.policy.decision(
            scheme: target.scheme, host: target.host, purpose: purpose, at: now)
        if case .refused(let refusal) = decision { throw HTTPFailure(TLSRefusal(refusal)) }
    }

    private func pool(_ key: PoolKey) throws(HTTPFailure) -> ConnectionPool {
        let pool = pools.withLock { state -> ConnectionPool? in
            guard !state.isClosed else { return nil }
            if let pool = state.pools[key] { return pool }
            if state.pools.count >= Self.maxPools { state.pools = state.pools.filter { !$0.value.isEmpty } }
            let pool = ConnectionPool(
                maxConnections: configuration.maxConnectionsPerHost, isSecure: key.isSecure,
                idleTimeout: configuration.idleTimeout)
            state.pools[key] = pool
            return pool
        }
        guard let pool else { throw .closed }
        return pool
    }

    /// Unused pools beyond this number are forgotten.
    private static let maxPools = 256
}
