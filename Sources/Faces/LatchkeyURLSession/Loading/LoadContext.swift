// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections

/// The objects and settings that all requests of a session share.
struct LoadContext: Sendable {
    let connections: HTTPConnections
    let reviewer: ObjectIdentifier
    let transport: LatchkeyTransport
    let cookies: CookieJar?
    let cache: ResponseCache?
    let credentials: URLCredentialStorage?
    let proxyPasswords: ProxyPasswords
    let additionalFields: [String: String]
    let cachePolicy: URLRequest.CachePolicy
    /// In seconds.
    let timeout: Double
    let resourceTimeout: Double

    /// - Parameter known: the result of an earlier lookup in the cache.
    init(
        _ configuration: URLSessionConfiguration, _ transport: LatchkeyTransport, _ connections: SessionConnections,
        knowing known: ResponseCache.KnownEntry? = nil
    ) {
        self.connections = connections.connections
        reviewer = connections.reviewer
        proxyPasswords = connections.proxyPasswords
        self.transport = transport
        cookies = CookieJar(configuration)
        cache = configuration.urlCache.map { ResponseCache($0, knowing: known) }
        credentials = configuration.urlCredentialStorage
        var fields: [String: String] = [:]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        additionalFields = fields
        cachePolicy = configuration.requestCachePolicy
        timeout = configuration.timeoutIntervalForRequest
        resourceTimeout = configuration.timeoutIntervalForResource
    }

    /// The longest pause of a request, in seconds. A request that has Foundation's default gets the
    /// session's.
    func timeout(of request: URLRequest) -> Double {
        let seconds = request.timeoutInterval == Self.defaultTimeout ? timeout : request.timeoutInterval
        return seconds > 0 ? min(seconds, Self.maxTimeout) : Self.defaultTimeout
    }

    func cachePolicy(of request: URLRequest) -> URLRequest.CachePolicy {
        request.cachePolicy == .useProtocolCachePolicy ? cachePolicy : request.cachePolicy
    }

    private static let defaultTimeout = 60.0
    private static let maxTimeout = 1_000_000.0
}
