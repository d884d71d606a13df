// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Synchronization

/// The connections of a server: counts them by user and process, and selects idle ones to close.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopping = false
        /// When the last connection ended, or the server began (`BootClock`).
        var lastEnd = BootClock.system.now()
    }

    private let limits: ServerLimits
    private let shared: SharedResources
    private let state = SystemMutex(State())

    init(_ limits: ServerLimits, _ shared: SharedResources) {
        self.limits = limits
        self.shared = shared
    }

    /// Registers a connection. If its user has too many, the connection that was idle for longest
    /// is closed.
    ///
    /// - Throws: errSecNotAvailable if none of them is idle.
    func register(_ connection: Connection) throws(KeychainError) {
        let (leaving, problem) = state.withLock { state -> (Connection?, KeychainError?) in
            guard !state.isStopping else {
                return (nil, KeychainError(.notAvailable, "latchkeyd is stopping", hint: "try again"))
            }
            // Connections that are closing may still have a request in progress.
            let present = state.connections.values.count { $0.user == connection.user }
            guard present < 2 * limits.connectionsPerUser else {
                return (nil, Self.tooManyConnections("this user has \(present)"))
            }
            let total = shared.connections.load(ordering: .relaxed)
            guard total < 2 * limits.connections else {
                return (nil, Self.tooManyConnections("all users together have \(total)"))
            }
            let others = state.connections.values.filter { $0.user == connection.user && !$0.isClosing }
            let own = others.filter { $0.process == connection.process }
            let all = state.connections.values.filter { !$0.isClosing }
            let crowd =
                own.count >= limits.connectionsPerProcess
                ? own
                : others.count >= limits.connectionsPerUser ? others : all.count >= limits.connections ? Array(all) : []
            guard !crowd.isEmpty else {
                add(connection, to: &state)
                return (nil, nil)
            }
            guard let idle = crowd.filter(\.canBeClosed).min(by: { ($0.idleSince ?? .max) < ($1.idleSince ?? .max) })
            else {
                let whose =
                    own.count >= limits.connectionsPerProcess
                    ? "this process has"
                    : others.count >= limits.connectionsPerUser ? "this user has" : "all users together have"
                return (nil, Self.tooManyConnections("\(whose) \(crowd.count)"))
            }
            add(connection, to: &state)
            return (idle, nil)
        }
        if let problem { throw problem }
        leaving?.closeAfterResponse()
    }

    private func add(_ connection: Connection, to state: inout State) {
        state.connections[ObjectIdentifier(connection)] = connection
        shared.connections.add(1, ordering: .relaxed)
    }

    /// Removes a connection.
    ///
    /// - Returns: whether it was the last one of its process.
    @discardableResult
    func remove(_ connection: Connection) -> Bool {
        let (wasKnown, isLast) = state.withLock { state in
            state.lastEnd = BootClock.system.now()
            let wasKnown = state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil
            let isLast = !state.connections.values.contains {
                $0.user == connection.user && $0.process == connection.process
            }
            return (wasKnown, isLast)
        }
        if wasKnown { shared.connections.subtract(1, ordering: .relaxed) }
        return isLast
    }

    /// The sessions that the connections of a user opened; nil for all users.
    func sessions(of user: UInt32? = nil) -> [KeychainServer] {
        state.withLock { Array($0.connections.values) }.filter { user == nil || $0.user == user }.flatMap(\.sessions)
    }

    /// Accepts no more requests; requests in progress are answered.
    func stop() {
        let all = state.withLock { state in
            state.isStopping = true
            return Array(state.connections.values)
        }
        for connection in all { connection.closeAfterResponse() }
    }

    var isEmpty: Bool { state.withLock { $0.connections.isEmpty } }
    /// The number of connections with a request in progress.
    /// When the last request ended (`BootClock`); nil while one is in progress, or a session is open.
    var lastUse: UInt64? {
        state.withLock { state in
            guard state.connections.values.allSatisfy(\.canBeClosed) else { return nil }
            return state.connections.values.compactMap(\.idleSince).max().map { max($0, state.lastEnd) }
                ?? state.lastEnd
        }
    }

    var busyCount: Int { state.withLock { $0.connections.values.count { $0.idleSince == nil } } }
    var count: Int { state.withLock { $0.connections.count } }

    private static func tooManyConnections(_ words: String) -> KeychainError {
        KeychainError(
            .notAvailable, "\(words) connections to latchkeyd, and all of them are busy",
            hint: "use fewer threads at a time, or try again")
    }
}
