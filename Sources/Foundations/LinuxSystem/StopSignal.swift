// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// A signal that is raised once and wakes every thread that waits for it or for a descriptor.
public final class StopSignal: Sendable {
    private let descriptor: Int32

    public init() throws(SystemError) {
        descriptor = latchkey_event()
        guard descriptor >= 0 else { throw .last("create an event descriptor") }
    }

    public func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Waits until the signal is raised or the time has passed.
    ///
    /// - Returns: whether the signal is raised.
    public func wait(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// The result of a wait.
    enum Wait { case raised, readable, nothing }

    /// Waits until `other` is readable, the signal is raised, or a second has passed.
    func wait(for other: Int32) throws(SystemError) -> Wait {
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
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
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&entries, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, entries[0].revents == 0 else { return false }
            return true
        }
    }

    deinit { close(descriptor) }
}
