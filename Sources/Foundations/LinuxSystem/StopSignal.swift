// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A signal that is raised once and wakes every thread that waits for it or for a descriptor.
public final class StopSignal: Sendable {
    private let event: EventDescriptor

    public init() throws(SystemError) { event = try EventDescriptor() }

    public func raise() { event.raise() }

    /// Waits until the signal is raised or the time has passed.
    ///
    /// - Returns: whether the signal is raised.
    public func wait(milliseconds: Int32) -> Bool {
        var entry = event.entry
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Waits until the signal or another one is raised, or the other end of a socket is closed.
    ///
    /// - Returns: whether this signal is raised.
    public func wait(or other: StopSignal, orEndOf socket: Socket) -> Bool {
        var entries = [event.entry, other.event.entry, pollfd(fd: socket.descriptor, events: 0, revents: 0)]
        while poll(&entries, 3, -1) < 0, errno == EINTR {}
        return entries[0].revents != 0
    }

    /// The result of a wait.
    enum Wait { case raised, readable, interrupted }

    /// Waits until `other` is readable or the signal is raised, and answers the questions of a probe
    /// meanwhile.
    func wait(for other: Int32, answering probe: Probe?) throws(SystemError) -> Wait {
        let none = pollfd(fd: -1, events: 0, revents: 0)
        var entries = [
            event.entry, pollfd(fd: other, events: Int16(POLLIN), revents: 0), probe?.entry ?? none,
        ]
        let count = poll(&entries, 3, -1)
        guard count >= 0 || errno == EINTR else { throw .last("wait") }
        if count <= 0 { return .interrupted }
        if entries[2].revents != 0 { probe?.answer() }
        if entries[0].revents != 0 { return .raised }
        return entries[1].revents != 0 ? .readable : .interrupted
    }

    /// Waits until `other` is readable.
    ///
    /// - Returns: false if the signal is raised.
    func waitUntilReadable(_ other: Int32) -> Bool {
        while true {
            var entries = [
                event.entry, pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&entries, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, entries[0].revents == 0 else { return false }
            return true
        }
    }
}
