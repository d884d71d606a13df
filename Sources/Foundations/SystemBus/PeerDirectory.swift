// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The processes behind the connections that call objects of this process: the bus is asked once
/// about each connection, and what it reported is kept until the connection ends.
public final class PeerDirectory: Sendable {
    private struct State {
        var peers: [BusName: BusPeer] = [:]
        var registration: BusRegistration?
    }

    private let bus: BusConnection
    private let state = SystemMutex(State())

    /// - Parameter onEnd: called with the unique name of every connection of the bus that ends, in
    ///   the order of the other events.
    public init(_ bus: BusConnection, onEnd: @escaping @Sendable (BusName) -> Void) throws(BusError) {
        self.bus = bus
        let registration = try bus.observeEnds { [weak self] name in
            self?.forget(name)
            onEnd(name)
        }
        state.withLock { $0.registration = registration }
    }

    /// Returns the process of a connection.
    ///
    /// - Throws: ``BusError/remote(_:)`` if the connection has ended.
    public func peer(_ name: BusName) throws(BusError) -> BusPeer {
        if let known = state.withLock({ $0.peers[name] }) { return known }
        let peer = try bus.peer(name)
        state.withLock { state in
            // The end of a connection that was reported before the answer would leave it here.
            if state.peers.count >= Self.maxCount { state.peers = [:] }
            state.peers[name] = peer
        }
        return peer
    }

    private func forget(_ name: BusName) { state.withLock { $0.peers[name] = nil } }

    /// How many processes are kept; the bus is asked again about others.
    private static let maxCount = 4096
}
