// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem
internal import NIOCore

/// The connections of a session and its delegate.
///
/// Each pair has its own, because a connection that one delegate accepted must not be used by
/// another.
final class SessionConnections: Sendable {
    let connections: HTTPConnections
    let proxyPasswords = ProxyPasswords()
    /// Identifies who was asked about the connections.
    var reviewer: ObjectIdentifier { ObjectIdentifier(self) }

    init(_ transport: LatchkeyTransport, maxConnectionsPerHost: Int) throws(HTTPFailure) {
        var configuration = HTTPConnections.Configuration()
        configuration.policy = transport.policy
        configuration.trust = transport.trust
        configuration.maxConnectionsPerHost = max(1, maxConnectionsPerHost)
        if let variables = transport.proxyVariables {
            configuration.proxies = try .environment(variables)
        } else if transport.usesProxyEnvironment {
            configuration.proxies = try ProxyEnvironment.proxies()
        }
        connections = HTTPConnections(configuration)
    }

    /// Ends the connections, without waiting for it.
    func close() {
        let connections = connections
        Task { await connections.close() }
    }

    // MARK: Sessions of Foundation

    /// The connections for a task; they end after the session and the delegate.
    static func of(_ binding: TaskBinding, _ transport: LatchkeyTransport) throws(HTTPFailure) -> SessionConnections {
        let session = binding.session
        let ended: [SessionConnections]
        let found: SessionConnections?
        let decider: AnyObject = binding.ownDelegate ?? session
        (found, ended) = table.withLock { $0.find(session, decider) }
        for connections in ended { connections.close() }
        if let found { return found }
        let new = try SessionConnections(
            transport, maxConnectionsPerHost: session.configuration.httpMaximumConnectionsPerHost)
        return table.withLock { $0.insert(new, session, decider) }
    }

    private static let table = SystemMutex(Table())
}

/// The connections by the objects that they belong to.
///
/// Its Sendable is unchecked because the objects are compared with others, and otherwise not used.
private struct Table: @unchecked Sendable {
    private struct Key: Hashable {
        let session, decider: ObjectIdentifier
    }

    private struct Entry {
        weak var session: URLSession?
        weak var decider: AnyObject?
        let connections: SessionConnections
        var isLive: Bool { session != nil && decider != nil }
    }

    private var entries: [Key: Entry] = [:]

    /// Returns the entry, and removes and returns the entries of objects that no longer exist.
    mutating func find(_ session: URLSession, _ decider: AnyObject) -> (SessionConnections?, [SessionConnections]) {
        let ended = entries.filter { !$0.value.isLive }
        for key in ended.keys { entries[key] = nil }
        return (entries[Self.key(session, decider)]?.connections, ended.values.map(\.connections))
    }

    /// Returns the connections of the entry; another thread may have made it meanwhile.
    mutating func insert(_ new: SessionConnections, _ session: URLSession, _ decider: AnyObject) -> SessionConnections {
        let key = Self.key(session, decider)
        if let entry = entries[key], entry.isLive { return entry.connections }
        entries[key] = Entry(session: session, decider: decider, connections: new)
        return new
    }

    private static func key(_ session: URLSession, _ decider: AnyObject) -> Key {
        Key(session: ObjectIdentifier(session), decider: ObjectIdentifier(decider))
    }
}

/// The proxies of the process's environment.
enum ProxyEnvironment {
    private static let names = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]

    /// The variables in lower case win, as with curl; `HTTP_PROXY` is not read, because a server
    /// that runs the program as CGI sets it from a request.
    static func proxies() throws(HTTPFailure) -> HTTPProxies {
        var values: [String: String] = [:]
        for name in names {
            let upper = name == "http_proxy" ? nil : SecureEnvironment.value(of: name.uppercased())
            values[name] = SecureEnvironment.value(of: name) ?? upper
        }
        return values.isEmpty ? .none : try .environment(values)
    }
}
