// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Wakes one thread that waits for a descriptor; it can be raised many times.
public final class WakeSignal: Sendable {
    private let event: EventDescriptor

    public init() throws(SystemError) { event = try EventDescriptor() }

    public func raise() { event.raise() }

    /// Waits until the signal is raised or the time has passed, and lowers the signal. Only one thread
    /// may wait.
    ///
    /// - Parameter milliseconds: the timeout; -1 for none.
    public func wait(milliseconds: Int32) { wait(for: -1, events: 0, milliseconds: milliseconds) }

    /// Waits until the signal is raised, `other` has one of the events of poll(2), or the time has
    /// passed, and lowers the signal. Only one thread may wait.
    ///
    /// - Parameters:
    ///   - other: a descriptor; -1 for none.
    ///   - milliseconds: the timeout; -1 for none.
    /// - Returns: whether the signal was raised.
    @discardableResult
    public func wait(for other: Int32, events: Int16, milliseconds: Int32) -> Bool {
        // poll(2) ignores a negative descriptor.
        var entries = [event.entry, pollfd(fd: other, events: events, revents: 0)]
        guard poll(&entries, 2, milliseconds) > 0, entries[0].revents != 0 else { return false }
        event.lower()
        return true
    }
}
