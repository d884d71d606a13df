// SPDX-License-Identifier: Apache-2.0

public import FoundationNetworking
internal import HTTPConnections
public import LatchkeyNIOSSL
public import TransportPolicy

/// Loads `http` and `https` with Latchkey's connections, without the limits of `URLSession` on
/// Linux: downloads to files with resumption, events of servers, and errors that name the reason.
///
/// ```swift
/// let session = LatchkeySession(policy: ConnectionPolicy(pins: pins))
/// let (data, response) = try await session.data(for: URLRequest(url: url))
/// ```
///
/// Every function throws a `URLError`. If TLS or the policy is the reason, its
/// `NSUnderlyingErrorKey` is a `TLSRefusal` with the failed rule, the served certificates and the
/// pins.
public final class LatchkeySession: Sendable {
    /// Answers a challenge: the server's trust, a client certificate, or a password.
    public typealias ChallengeHandler =
        @Sendable (URLAuthenticationChallenge) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
    /// Returns the request to follow; nil if the redirect itself is the result.
    public typealias RedirectHandler = @Sendable (HTTPURLResponse, URLRequest) async -> URLRequest?

    /// Receives the metrics of a request, when its final response has arrived or it has failed.
    public typealias MetricsHandler = @Sendable (LatchkeyMetrics) -> Void

    private let context: Result<LoadContext, HTTPFailure>
    private let connections: SessionConnections?
    let challenge: ChallengeHandler?
    let redirect: RedirectHandler?
    private let metrics: MetricsHandler?

    /// - Parameters:
    ///   - policy: App Transport Security and pins.
    ///   - trust: how the certificates of servers are evaluated.
    ///   - configuration: timeouts, cookies, cache, credentials and fields of the requests. The
    ///     default keeps credentials in `URLCredentialStorage.latchkey`.
    ///   - challenge: nil for the default handling: the policy decides.
    ///   - redirect: nil to follow redirects.
    ///   - metrics: called once for each request, by any thread.
    public convenience init(
        policy: ConnectionPolicy = ConnectionPolicy(), trust: PeerTrust = PeerTrust(),
        configuration: URLSessionConfiguration? = nil, challenge: ChallengeHandler? = nil,
        redirect: RedirectHandler? = nil, metrics: MetricsHandler? = nil
    ) {
        self.init(
            LatchkeyTransport(policy: policy, trust: trust), configuration: configuration, challenge: challenge,
            redirect: redirect, metrics: metrics)
    }

    /// - Parameters:
    ///   - transport: the requirements for the connections.
    ///   - configuration: timeouts, cookies, cache, credentials and fields of the requests.
    ///   - challenge: nil for the default handling: the policy decides.
    ///   - redirect: nil to follow redirects.
    ///   - metrics: called once for each request, by any thread.
    public init(
        _ transport: LatchkeyTransport, configuration: URLSessionConfiguration? = nil,
        challenge: ChallengeHandler? = nil, redirect: RedirectHandler? = nil, metrics: MetricsHandler? = nil
    ) {
        let configuration = configuration ?? .latchkey
        (self.challenge, self.redirect, self.metrics) = (challenge, redirect, metrics)
        do throws(HTTPFailure) {
            let connections = try SessionConnections(
                transport, maxConnectionsPerHost: configuration.httpMaximumConnectionsPerHost)
            self.connections = connections
            context = .success(LoadContext(configuration, transport, connections))
        } catch {
            connections = nil
            context = .failure(error)
        }
    }

    deinit { connections?.close() }

    /// Sends a request, and returns when its final response has arrived.
    func load(_ request: URLRequest, _ body: RequestBody) async throws(LoadError) -> (LoadedResponse, LoadContext) {
        let context: LoadContext
        do throws(HTTPFailure) { context = try self.context.get() } catch { throw LoadError(error, request.url, nil) }
        let events = HandlerEvents(challenge: challenge, redirect: redirect, limit: context.timeout(of: request))
        let load = HTTPLoad(context: context, events: events)
        defer { metrics?(load.metrics.collected) }
        return (try await load.run(request, body), context)
    }

    /// The longest time of a whole request, in seconds.
    var resourceTimeout: Double { (try? context.get().resourceTimeout) ?? 60 }
}

/// Asks the closures of a session.
private struct HandlerEvents: LoadEvents {
    let challenge: LatchkeySession.ChallengeHandler?
    let redirect: LatchkeySession.RedirectHandler?
    let limit: Double

    var answersConnections: Bool { challenge != nil }

    func answer(_ challenge: URLAuthenticationChallenge, isForConnection: Bool) async -> ChallengeAnswer {
        guard let handler = self.challenge else { return .defaultHandling }
        return await Answer.wait(limit: limit, late: .late, cancelled: .cancelled) { finish in
            Task {
                let (disposition, credential) = await handler(challenge)
                finish(ChallengeAnswer(disposition: disposition, credential: credential))
            }
        }
    }

    func redirect(_ response: HTTPURLResponse, to request: URLRequest) async -> URLRequest? {
        guard let handler = redirect else { return request }
        return await Answer.wait(limit: limit, late: nil, cancelled: nil) { finish in
            Task { finish(await handler(response, request)) }
        }
    }

    /// A stream that was read cannot be read again.
    func newBodyStream() async -> StreamHandle? { nil }
    func sent(_ count: Int, total: Int, expected: Int?) {}
    func willCache(_ response: CachedURLResponse) async -> CachedURLResponse? { response }
}
