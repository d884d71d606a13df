// SPDX-License-Identifier: Apache-2.0

/// The users of the connections that have called methods, as the bus reports them, and the calls
/// that wait for this report. Used on the thread of the bus only.
struct PeerUsers {
    /// nil for a connection whose user the bus does not report.
    private var users: [BusName: UInt32?] = [:]
    private var waiting: [BusName: [ReceivedCall]] = [:]

    /// Whether the bus was asked about the connection, and has answered.
    func isKnown(_ name: BusName) -> Bool { users[name] != nil }

    /// The account of calls of a connection.
    func account(of name: BusName) -> CallAccount {
        if case .some(.some(let user)) = users[name] { .user(user) } else { .connection(name) }
    }

    /// Keeps a call until its sender is identified.
    ///
    /// - Returns: whether it is the first one, so that the bus must be asked.
    mutating func wait(_ call: ReceivedCall) -> Bool {
        waiting[call.call.sender, default: []].append(call)
        return waiting[call.call.sender]?.count == 1
    }

    /// Keeps the user of a connection; returns the calls that have waited, in their order.
    mutating func identify(_ name: BusName, as user: UInt32?) -> [ReceivedCall] {
        // A unique name never gets another connection, but connections come and go.
        if users.count >= Self.maxCount { users = [:] }
        users[name] = .some(user)
        return waiting.removeValue(forKey: name) ?? []
    }

    /// Returns the calls of a connection that has ended.
    mutating func forget(_ name: BusName) -> [ReceivedCall] { waiting.removeValue(forKey: name) ?? [] }

    /// How many users are kept; the bus is asked again about others.
    private static let maxCount = 1024
}
