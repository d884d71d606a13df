// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import LinuxSystem

/// Runs the handlers of a connection in the order of their events, on a thread that may block.
final class DeliveryQueue: Sendable {
    private struct Event: Sendable {
        let cost: Int
        let run: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Event] = []
        /// Of the events that wait or run.
        var count = 0
        var bytes = 0
        var hasEnded = false
    }

    private let limits: BusLimits
    private let state = SystemMutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ limits: BusLimits) throws(BusError) {
        self.limits = limits
        guard BackgroundThread.run({ [self] in deliver() }) else {
            throw .system(SystemError("start a thread for events of the bus", code: EAGAIN))
        }
    }

    /// Adds an event.
    ///
    /// - Parameter cost: the memory that it uses, in bytes.
    /// - Returns: false if too many events wait.
    func add(cost: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
        let isAdded = state.withLock { state in
            guard !state.hasEnded, state.count < limits.maxQueuedEvents, state.bytes + cost <= limits.maxQueuedBytes
            else { return false }
            state.count += 1
            state.bytes += cost
            state.waiting.append(Event(cost: cost, run: run))
            return true
        }
        if isAdded { semaphore.signal() }
        return isAdded
    }

    /// Runs `last` after all events, even if too many wait, and ends the thread.
    func end(_ last: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            state.waiting.append(Event(cost: 0, run: last))
        }
        semaphore.signal()
    }

    private func deliver() {
        while true {
            semaphore.wait()
            let (events, isLast) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.hasEnded)
            }
            for event in events {
                event.run()
                state.withLock { state in
                    state.count -= 1
                    state.bytes -= event.cost
                }
            }
            if isLast { return }
        }
    }
}
