// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import NIOCore
internal import TransportPolicy

/// Loads one request: with cookies, cache, redirects and authentication, until a response is final.
struct HTTPLoad: Sendable {
    let context: LoadContext
    let events: any LoadEvents
    let lastTrust = LastTrust()
    let metrics = MetricsRecorder()

    func run(_ original: URLRequest, _ body: RequestBody) async throws(LoadError) -> LoadedResponse {
        var step = LoadStep(configured(original), body)
        while true {
            let request = step.request
            guard let url = request.url, let scheme = url.scheme, let host = url.host, !host.isEmpty else {
                throw LoadError(.badURL, "expected a URL with a host", step.request.url)
            }
            if case .refused(let refusal) = decision(step.redirectedFrom, scheme: scheme, host: host) {
                throw LoadError(refusal, url)
            }
            var lookup = CacheLookup.none
            if step.body.isEmpty, let cache = context.cache {
                lookup = try await cache.lookup(request, context.cachePolicy(of: request))
            }
            if case .usable(let stored) = lookup { return stored }
            guard let exchange = try await proxiedExchange(&step, url, lookup) else { continue }
            if handlesCookies(request) { context.cookies?.store(exchange, url, request.mainDocumentURL) }
            if exchange.status == 304, case .validatable(let stored, _) = lookup {
                await exchange.discard()
                return await context.cache?.revalidated(stored, exchange, request) ?? stored.loaded
            }
            guard try await advance(&step, exchange, url) else { return try await final(step, exchange, url) }
        }
    }

    /// Prepares the next request; false if the response is final.
    private func advance(_ step: inout LoadStep, _ exchange: HTTPExchange, _ url: URL) async throws(LoadError) -> Bool {
        if exchange.status == 401 {
            guard let authorized = try await step.authentication.next(exchange, step, url, context, events) else {
                return false
            }
            step.authentication = authorized
            step.attempt += 1
            await exchange.discard()
            return true
        }
        if exchange.status == 407 {
            // Through a tunnel, the answer is the server's, and the server must not have a proxy's password.
            guard url.scheme?.lowercased() == "http", let proxy = proxy(url) else { return false }
            let challenge = HTTPProxyChallenge(proxy: proxy, fields: exchange.fields)
            guard let authorized = try await step.proxy.next(challenge, isTunnel: false, url, events) else {
                return false
            }
            step.proxy = authorized
            step.attempt += 1
            await exchange.discard()
            return true
        }
        await step.authentication.keep(in: context.credentials)
        guard
            let rule = RedirectRule(step.request, status: exchange.status, location: exchange.values("Location").first),
            let response = exchange.response(url)
        else { return false }
        guard step.redirects < RedirectRule.maxCount else {
            throw LoadError(.tooManyRedirects, "more than \(RedirectRule.maxCount) redirects", url)
        }
        guard var next = await events.redirect(response, to: rule.request) else {
            try Self.throwIfCancelled(url)
            return false
        }
        await exchange.discard()
        next.httpBodyStream = nil
        step.follow(next, from: url, keepsBody: rule.keepsBody)
        return true
    }

    private func final(_ step: LoadStep, _ exchange: HTTPExchange, _ url: URL) async throws(LoadError) -> LoadedResponse
    {
        // Foundation would send the URL and a password by itself if it saw the field of a 401.
        var omitted: Set<String> = exchange.status == 401 ? ["www-authenticate"] : []
        if !exchange.values("Content-Encoding").isEmpty { omitted.insert("content-length") }
        guard let response = exchange.response(url, omitting: omitted) else {
            throw LoadError(.badServerResponse, "the response cannot be represented", url)
        }
        let recorder = step.body.isEmpty ? context.cache?.recorder(step.request, exchange, response, events) : nil
        return LoadedResponse(response: response, body: .network(exchange.body, recorder))
    }

    // MARK: One exchange

    /// Nil if the proxy required a password, and the program has given one.
    private func proxiedExchange(_ step: inout LoadStep, _ url: URL, _ lookup: CacheLookup) async throws(LoadError)
        -> HTTPExchange?
    {
        do throws(LoadError) {
            let exchange = try await exchange(step, url, lookup)
            if exchange.status != 407 { step.proxy.keep(in: context.proxyPasswords) }
            return exchange
        } catch {
            // The request itself was not sent.
            guard let challenge = error.proxyChallenge,
                let authorized = try await step.proxy.next(challenge, isTunnel: true, url, events)
            else { throw error }
            step.proxy = authorized
            return nil
        }
    }

    private func proxy(_ url: URL) -> HTTPProxyPlace? {
        (try? HTTPTarget(url)).flatMap { context.connections.proxy(for: $0) }
    }

    private func exchange(_ step: LoadStep, _ url: URL, _ lookup: CacheLookup) async throws(LoadError) -> HTTPExchange {
        let body = try await step.body.prepared(attempt: step.attempt, url) { await events.newBodyStream() }
        let review = ServerChallenge(
            identifier: context.reviewer, host: url.host ?? "", port: url.port ?? 443, trust: context.transport.trust,
            events: events, lastTrust: lastTrust)
        let progress = ProgressReport(events, expected: body.length)
        let timeout = context.timeout(of: step.request)
        do throws(HTTPFailure) {
            let request = HTTPRequest(
                step.request.httpMethod ?? "GET", try HTTPTarget(url), fields: fields(step, url, lookup),
                body: body.content)
            let exchange = try await context.connections.exchange(
                request, review: events.answersConnections ? review : nil,
                inactivity: .nanoseconds(Int64(timeout * 1e9)), purpose: context.transport.purpose,
                proxyAuthorization: proxy(url).flatMap { step.proxy.authorization($0, context.proxyPasswords) },
                sent: { progress.sent($0) })
            metrics.add(step.request, exchange)
            return exchange
        } catch {
            try Self.throwIfCancelled(url)
            throw LoadError(error, url, lastTrust.value.withLock { $0 } ?? review.trust(of: error.refusal))
        }
    }

    static func throwIfCancelled(_ url: URL?) throws(LoadError) {
        if Task.isCancelled { throw .cancelled(url) }
    }

    private func decision(_ origin: String?, scheme: String, host: String) -> TransportDecision {
        let (policy, time) = (context.transport.policy, WallClock.now)
        let purpose = context.transport.purpose
        guard let origin else { return policy.decision(scheme: scheme, host: host, purpose: purpose, at: time) }
        return policy.decision(redirectedFrom: origin, scheme: scheme, host: host, purpose: purpose, at: time)
    }

    // MARK: Fields

    /// Returns the request with the fields of the session. They do not replace its own.
    private func configured(_ original: URLRequest) -> URLRequest {
        var request = original
        for (name, value) in context.additionalFields where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    private func handlesCookies(_ request: URLRequest) -> Bool { request.httpShouldHandleCookies }

    private func fields(_ step: LoadStep, _ url: URL, _ lookup: CacheLookup) -> [HTTPField] {
        var request = step.request
        if handlesCookies(request), let cookies = context.cookies,
            cookies.isOfStorage(request.value(forHTTPHeaderField: "Cookie"), for: url)
        {
            request.setValue(cookies.field(for: url), forHTTPHeaderField: "Cookie")
        }
        if case .validatable(_, let conditions) = lookup {
            for (name, value) in conditions { request.setValue(value, forHTTPHeaderField: name) }
        }
        for (name, value) in step.authentication.fields(for: request, url, step.body) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        if request.value(forHTTPHeaderField: "Accept") == nil { request.setValue("*/*", forHTTPHeaderField: "Accept") }
        return (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.compactMap { name, value in
            Self.ofConnection.contains(name.lowercased()) ? nil : HTTPField(name, value)
        }
    }

    /// The fields that the connection sets itself.
    private static let ofConnection: Set<String> = ["host", "content-length", "transfer-encoding", "connection"]
}

/// The state of a load: the request to send next, and its history.
struct LoadStep: Sendable {
    private(set) var request: URLRequest
    private(set) var body: RequestBody
    private(set) var redirects = 0
    /// The scheme of the redirecting URL.
    private(set) var redirectedFrom: String?
    /// How often the body was sent.
    var attempt = 0
    var authentication = Authentication()
    var proxy = ProxyAuthentication()

    init(_ request: URLRequest, _ body: RequestBody) { (self.request, self.body) = (request, body) }

    mutating func follow(_ next: URLRequest, from url: URL, keepsBody: Bool) {
        if !keepsBody { body = next.httpBody.map { .data($0) } ?? .none }
        authentication = Origin(next.url) == Origin(url) ? authentication.continued : Authentication()
        redirectedFrom = url.scheme
        redirects += 1
        attempt += 1
        request = next
    }
}

/// Turns the number of bytes that were sent into the steps that are reported to a delegate.
private final class ProgressReport: Sendable {
    private let events: any LoadEvents
    private let expected: Int?
    private let last = SystemMutex(0)

    init(_ events: any LoadEvents, expected: Int?) { (self.events, self.expected) = (events, expected) }

    func sent(_ total: Int) {
        let count = last.withLock { last in
            defer { last = max(last, total) }
            return total - last
        }
        if count > 0 { events.sent(count, total: total, expected: expected) }
    }
}
