// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem
internal import TransportPolicy

/// The result of a lookup in the cache for a request.
enum CacheLookup: Sendable {
    case none
    /// Can be used without the server.
    case usable(LoadedResponse)
    /// Can be used if the server says with 304 that it has not changed; with the fields that ask
    /// for it.
    case validatable(StoredResponse, [(String, String)])
}

/// A response of the cache.
struct StoredResponse: Sendable {
    let cached: CachedURLResponse
    let response: HTTPURLResponse

    /// Nil if there is no response of HTTP.
    init?(_ cached: CachedURLResponse?) {
        guard let cached, let response = cached.response as? HTTPURLResponse else { return nil }
        (self.cached, self.response) = (cached, response)
    }

    var loaded: LoadedResponse { LoadedResponse(response: response, body: .stored(cached.data)) }
}

/// A private cache (RFC 9111) in the `URLCache` of a session.
struct ResponseCache: Sendable {
    private let cache: URLCache
    private let known: KnownEntry?

    /// The result of an earlier lookup in the cache for a URL.
    struct KnownEntry: Sendable {
        let url: URL
        /// Nil if there is no entry.
        let entry: CachedURLResponse?
    }

    init(_ cache: URLCache, knowing known: KnownEntry? = nil) { (self.cache, self.known) = (cache, known) }

    // MARK: Lookup

    func lookup(_ request: URLRequest, _ policy: URLRequest.CachePolicy) async throws(LoadError) -> CacheLookup {
        let isOnly = policy == .returnCacheDataDontLoad
        guard !Self.ignoring.contains(policy), Self.isCacheable(request), let stored = await stored(request) else {
            guard !isOnly else {
                throw LoadError(.resourceUnavailable, "the response is not in the cache", request.url)
            }
            return .none
        }
        if isOnly || policy == .returnCacheDataElseLoad { return .usable(stored.loaded) }
        let freshness = CacheFreshness(stored.response)
        if policy == .useProtocolCachePolicy, freshness.isFresh(for: request) { return .usable(stored.loaded) }
        let conditions = freshness.conditions
        return conditions.isEmpty ? .none : .validatable(stored, conditions)
    }

    private func stored(_ request: URLRequest) async -> StoredResponse? {
        if let known, known.url == request.url { return StoredResponse(known.entry) }
        let (cache, key) = (cache, Self.key(request))
        return await Blocking.value { StoredResponse(cache.cachedResponse(for: key)) }
    }

    private static let ignoring: Set<URLRequest.CachePolicy> = [
        .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
    ]

    // MARK: Storing

    /// Keeps the body of a response while it is read; nil if the response must not be stored.
    func recorder(
        _ request: URLRequest, _ exchange: HTTPExchange, _ response: HTTPURLResponse, _ events: any LoadEvents
    ) -> CacheRecorder? {
        guard Self.isCacheable(request), Self.statuses.contains(exchange.status),
            CacheFreshness(response).mayBeStored
        else { return nil }
        let limit = max(cache.memoryCapacity, cache.diskCapacity) / 20
        guard limit > 0 else { return nil }
        let (cache, key) = (cache, Self.key(request))
        return CacheRecorder(limit: limit) { data in
            guard
                let allowed = await events.willCache(
                    CachedURLResponse(response: response, data: data, storagePolicy: .allowed))
            else { return }
            await Blocking.value { cache.storeCachedResponse(allowed, for: key) }
        }
    }

    /// Returns the stored response with the newer fields of a 304, and stores it again.
    func revalidated(_ stored: StoredResponse, _ exchange: HTTPExchange, _ request: URLRequest) async -> LoadedResponse
    {
        var fields: [String: String] = [:]
        for (name, value) in stored.response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        for field in exchange.fields where !Self.ofBody.contains(field.name.lowercased()) {
            for name in fields.keys where name.lowercased() == field.name.lowercased() { fields[name] = nil }
            fields[field.name] = field.value
        }
        guard let url = stored.response.url,
            let response = HTTPURLResponse(
                url: url, statusCode: stored.response.statusCode, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return stored.loaded }
        let (cache, key, data) = (cache, Self.key(request), stored.cached.data)
        let renewed = CachedURLResponse(response: response, data: data, storagePolicy: .allowed)
        await Blocking.value { cache.storeCachedResponse(renewed, for: key) }
        return LoadedResponse(response: response, body: .stored(data))
    }

    // MARK: Rules

    /// Never with credentials or for a part, and only for a GET.
    private static func isCacheable(_ request: URLRequest) -> Bool {
        (request.httpMethod ?? "GET") == "GET" && request.httpBody == nil
            && ["Authorization", "Range"].allSatisfy { request.value(forHTTPHeaderField: $0) == nil }
            && request.url?.user == nil
            && !CacheFreshness.directives(request.value(forHTTPHeaderField: "Cache-Control")).keys.contains("no-store")
    }

    private static func key(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return request
        }
        components.percentEncodedFragment = nil
        return URLRequest(url: components.url ?? url)
    }

    private static let statuses: Set<Int> = [200, 203, 300, 301, 308, 404, 410]
    /// Fields of a 304 that are not about the stored body.
    private static let ofBody: Set<String> = [
        "content-length", "content-encoding", "transfer-encoding", "content-range",
    ]
}

/// Collects a body for the cache, up to a limit.
final class CacheRecorder: Sendable {
    /// Nil if the body is too long.
    private let data = SystemMutex<Data?>(Data())
    private let limit: Int
    private let store: @Sendable (Data) async -> Void

    init(limit: Int, _ store: @escaping @Sendable (Data) async -> Void) { (self.limit, self.store) = (limit, store) }

    func append(_ chunk: Data) {
        data.withLock { data in
            guard let count = data?.count else { return }
            if count + chunk.count > limit { data = nil } else { data?.append(chunk) }
        }
    }

    /// The body is complete.
    func end() async {
        guard let complete = data.withLock({ $0 }) else { return }
        await store(complete)
    }
}
