// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// Wakes one thread that waits for a descriptor; it can be raised many times.
public final class WakeSignal: Sendable {
    private let descriptor: Int32

    public init() throws(SystemError) {
        descriptor = latchkey_event()
        guard descriptor >= 0 else { throw .last("create an event descriptor") }
    }

    public func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Waits until the signal is raised, `other` has one of the events of poll(2), or the time has
    /// passed, and lowers the signal. Only one thread may wait.
    ///
    /// - Parameters:
    ///   - other: a descriptor; -1 for none.
    ///   - milliseconds: the timeout; -1 for none.
    public func wait(for other: Int32, events: Int16, milliseconds: Int32) {
        var own = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if other < 0 {
            _ = poll(&own, 1, milliseconds)
        } else {
            var entries = [own, pollfd(fd: other, events: events, revents: 0)]
            _ = poll(&entries, 2, milliseconds)
            own.revents = entries.first?.revents ?? 0
        }
        guard own.revents != 0 else { return }
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }

    deinit { close(descriptor) }
}
