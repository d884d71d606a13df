// SPDX-License-Identifier: Apache-2.0

/// The processes at the other ends of the connections that have called methods, as the bus reports them, and the
/// calls that wait for this report. Used on the thread of the bus only.
struct PeerUsers {
    /// nil for a connection if the bus does not report its user.
    private var peers: [BusName: BusPeer?] = [:]
    private var waiting: [BusName: [ReceivedCall]] = [:]

    /// Whether the bus was asked about the connection, and has answered.
    func isKnown(_ name: BusName) -> Bool { peers[name] != nil }

    func caller(_ name: BusName) -> BusCaller { BusCaller(name, peers[name] ?? nil) }

    /// Keeps a call until its sender is identified.
    ///
    /// - Returns: whether it is the first one, so that the bus must be asked.
    mutating func wait(_ call: ReceivedCall) -> Bool {
        waiting[call.call.sender, default: []].append(call)
        return waiting[call.call.sender]?.count == 1
    }

    /// Keeps the process of a connection; returns the calls that have waited, in their order.
    mutating func identify(_ name: BusName, as peer: BusPeer?) -> [ReceivedCall] {
        // A unique name never gets another connection, but connections come and go.
        if peers.count >= Self.maxCount { peers = [:] }
        peers[name] = .some(peer)
        return waiting.removeValue(forKey: name) ?? []
    }

    /// Returns the calls of a connection that has ended.
    mutating func forget(_ name: BusName) -> [ReceivedCall] { waiting.removeValue(forKey: name) ?? [] }

    /// How many processes are kept; the bus is asked again about others.
    private static let maxCount = 1024
}
