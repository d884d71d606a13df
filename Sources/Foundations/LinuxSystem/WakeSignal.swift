// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Wakes one thread that waits for a descriptor; it can be raised many times.
public final class WakeSignal: Sendable {
    private let event: EventDescriptor

    public init() throws(SystemError) { event = try EventDescriptor() }

    public func raise() { event.raise() }

    /// Waits until the signal is raised, `other` has one of the events of poll(2), or the time has
    /// passed, and lowers the signal. Only one thread may wait.
    ///
    /// - Parameters:
    ///   - other: a descriptor; -1 for none.
    ///   - milliseconds: the timeout; -1 for none.
    public func wait(for other: Int32, events: Int16, milliseconds: Int32) {
        var own = event.entry
        if other < 0 {
            _ = poll(&own, 1, milliseconds)
        } else {
            var entries = [own, pollfd(fd: other, events: events, revents: 0)]
            _ = poll(&entries, 2, milliseconds)
            own.revents = entries.first?.revents ?? 0
        }
        if own.revents != 0 { event.lower() }
    }
}
