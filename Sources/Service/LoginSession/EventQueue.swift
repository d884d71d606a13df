// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import SystemBus

/// Handles events of sessions on a thread of its own, so that the sleep of the machine does not wait
/// for them, and knows whether one that can lock a keychain is among those that wait.
final class EventQueue: Sendable {
    private let thread: EventThread
    /// The events that can lock and wait or are being handled.
    private let locks = SystemMutex(0)

    init() throws(BusError) {
        guard let thread = EventThread(maxCount: Self.maxCount) else {
            throw .system(SystemError("start a thread for events of sessions", code: EAGAIN))
        }
        self.thread = thread
    }

    /// Whether an event that can lock waits or is being handled.
    var hasLocks: Bool { locks.withLock { $0 > 0 } }

    /// Adds an event.
    ///
    /// - Parameter isLock: whether the event can lock a keychain.
    /// - Returns: false if too many events wait.
    func add(isLock: Bool, _ handle: @escaping @Sendable () -> Void) -> Bool {
        guard isLock else { return thread.add(handle) }
        locks.withLock { $0 += 1 }
        let isAdded = thread.add { [self] in
            handle()
            locks.withLock { $0 -= 1 }
        }
        if !isAdded { locks.withLock { $0 -= 1 } }
        return isAdded
    }

    /// Ends the thread after the events that wait. They are handled, because their signals are not
    /// repeated.
    func end() { thread.end() }

    private static let maxCount = 4096
}
