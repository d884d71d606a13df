// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import Synchronization

/// The connections of a server: how many each user and process has, and which of them may go.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopping = false
    }

    private let limits: ServerLimits
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        self.limits = limits
    }

    /// Takes a connection in. Where its user has too many, the one that was idle for longest is closed for it.
    ///
    /// - Throws: errSecNotAvailable where none of them is idle.
    func admit(_ connection: Connection) throws(KeychainError) {
        let (leaving, problem) = state.withLock { state -> (Connection?, KeychainError?) in
            guard !state.isStopping else { return (nil, KeychainError(.notAvailable, "latchkeyd is stopping", hint: "try again")) }
            let others = state.connections.values.filter { $0.user == connection.user && !$0.isLeaving }
            let own = others.filter { $0.process == connection.process }
            let all = state.connections.values.filter { !$0.isLeaving }
            let crowd =
                own.count >= limits.connectionsPerProcess
                ? own : others.count >= limits.connectionsPerUser ? others : all.count >= limits.connections ? Array(all) : []
            guard !crowd.isEmpty else {
                state.connections[ObjectIdentifier(connection)] = connection
                return (nil, nil)
            }
            guard let idle = crowd.filter(\.isDispensable).min(by: { ($0.idleSince ?? .max) < ($1.idleSince ?? .max) }) else {
                return (nil, Self.crowded(crowd.count, isProcess: own.count >= limits.connectionsPerProcess))
            }
            state.connections[ObjectIdentifier(connection)] = connection
            return (idle, nil)
        }
        if let problem { throw problem }
        leaving?.leave()
    }

    func remove(_ connection: Connection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
    }

    func sessions() -> [KeychainServer] {
        state.withLock { Array($0.connections.values) }.flatMap(\.sessions)
    }

    /// Lets no more requests in; those that are on their way are answered.
    func stop() {
        let all = state.withLock { state in
            state.isStopping = true
            return Array(state.connections.values)
        }
        for connection in all { connection.leave() }
    }

    var isEmpty: Bool { state.withLock { $0.connections.isEmpty } }
    /// How many connections have a request on its way.
    var busyCount: Int { state.withLock { $0.connections.values.count { $0.idleSince == nil } } }
    var count: Int { state.withLock { $0.connections.count } }

    private static func crowded(_ count: Int, isProcess: Bool) -> KeychainError {
        KeychainError(
            .notAvailable, "\(isProcess ? "this process" : "this user") has \(count) connections to latchkeyd, and all of them are busy",
            hint: "use fewer threads at a time, or try again")
    }
}
