// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections to one server, and the requests that wait for one. A value: the pool protects it.
struct PoolState {
    /// The connection or the permission that a request gets.
    enum Grant: Sendable {
        case connection(PooledConnection, isReused: Bool)
        /// The request makes a connection, and reports it.
        case permission
    }

    struct Waiter {
        let identifier: Int
        let continuation: CheckedContinuation<Result<Grant, HTTPFailure>, Never>
    }

    struct Idle {
        let connection: PooledConnection
        let expiry: Scheduled<Void>?
    }

    struct Multiplexed {
        let connection: PooledConnection
        var streams: Int
        var expiry: Scheduled<Void>?

        var isDraining: Bool { connection.limits?.isDraining ?? true }
        var hasCapacity: Bool {
            !isDraining && streams < connection.limits?.maxStreams ?? 0 && connection.channel.isActive
        }
    }

    enum Version { case unknown, http1, http2 }

    let maxConnections: Int
    var version: Version
    /// The last used last.
    var idle: [Idle] = []
    /// The connections of HTTP/1.1 that are in use.
    var leased: [ObjectIdentifier: PooledConnection] = [:]
    var connecting = 0
    var multiplexed: [Multiplexed] = []
    var waiters: [Waiter] = []
    var nextIdentifier = 0
    var isClosed = false

    init(maxConnections: Int, isSecure: Bool) {
        self.maxConnections = max(1, maxConnections)
        version = isSecure ? .unknown : .http1
    }

    var isEmpty: Bool {
        idle.isEmpty && leased.isEmpty && connecting == 0 && multiplexed.isEmpty && waiters.isEmpty
    }

    /// Returns the grant that a request can have now; nil if it must wait.
    mutating func grant() -> Grant? {
        while let entry = idle.popLast() {
            entry.expiry?.cancel()
            guard entry.connection.channel.isActive else { continue }
            leased[ObjectIdentifier(entry.connection)] = entry.connection
            return .connection(entry.connection, isReused: true)
        }
        if let index = multiplexed.firstIndex(where: \.hasCapacity) {
            multiplexed[index].streams += 1
            multiplexed[index].expiry?.cancel()
            multiplexed[index].expiry = nil
            return .connection(multiplexed[index].connection, isReused: true)
        }
        guard allowsConnection else { return nil }
        connecting += 1
        return .permission
    }

    /// The waiting requests that can have something now.
    mutating func grants() -> [(Waiter, Grant)] {
        var granted: [(Waiter, Grant)] = []
        while granted.count < waiters.count, let grant = grant() { granted.append((waiters[granted.count], grant)) }
        waiters.removeFirst(granted.count)
        return granted
    }

    /// With HTTP/2 there is one connection, and no second one before the protocol is known.
    private var allowsConnection: Bool {
        switch version {
        case .unknown: connecting == 0
        case .http1: connecting + leased.count < maxConnections
        case .http2: connecting == 0 && multiplexed.allSatisfy(\.isDraining)
        }
    }
}
