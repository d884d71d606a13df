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

    /// The result of a wait.
    enum Wait { case raised, readable, nothing }

    /// Waits until `other` is readable, the signal is raised, or a second has passed.
    func wait(for other: Int32) throws(SystemError) -> Wait {
        var entries = [
            event.entry, pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&entries, 2, 1000)
        guard count >= 0 || errno == EINTR else { throw .last("wait") }
        if count <= 0 { return .nothing }
        return entries[0].revents != 0 ? .raised : .readable
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
