// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import LinuxSystem
internal import SystemBus

/// Handles events of sessions one after another on a thread of its own, so that the sleep of the
/// machine does not wait for them.
final class EventQueue: Sendable {
    private struct Event: Sendable {
        let isLock: Bool
        let handle: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Event] = []
        /// Of the events that wait or are being handled.
        var count = 0
        var locks = 0
        var hasEnded = false
    }

    private let state = SystemMutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    init() throws(BusError) {
        guard BackgroundThread.run({ [self] in handle() }) else {
            throw .system(SystemError("start a thread for events of sessions", code: EAGAIN))
        }
    }

    /// Whether an event that can lock waits or is being handled.
    var hasLocks: Bool { state.withLock { $0.locks > 0 } }

    /// Adds an event.
    ///
    /// - Parameter isLock: whether the event can lock a keychain.
    /// - Returns: false if too many events wait.
    func add(isLock: Bool, _ handle: @escaping @Sendable () -> Void) -> Bool {
        let isAdded = state.withLock { state in
            guard !state.hasEnded, state.count < Self.maxCount else { return false }
            state.count += 1
            state.locks += isLock ? 1 : 0
            state.waiting.append(Event(isLock: isLock, handle: handle))
            return true
        }
        if isAdded { semaphore.signal() }
        return isAdded
    }

    /// Ends the thread after the events that wait. They are handled, because their signals are not
    /// repeated.
    func end() {
        state.withLock { $0.hasEnded = true }
        semaphore.signal()
    }

    private func handle() {
        while true {
            semaphore.wait()
            let (events, isLast) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.hasEnded)
            }
            for event in events {
                event.handle()
                state.withLock { state in
                    state.count -= 1
                    state.locks -= event.isLock ? 1 : 0
                }
            }
            if isLast { return }
        }
    }

    private static let maxCount = 4096
}
