// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A thread of its own that handles events one after another, in their order, and may block. The waiting events are
/// limited.
public final class EventThread: Sendable {
    private struct Event: Sendable {
        let cost: Int
        let handle: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Event] = []
        /// Of the events that wait or are being handled.
        var count = 0
        var cost = 0
        var hasEnded = false
    }

    private let maxCount: Int
    private let maxCost: Int
    private let state = SystemMutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    /// Starts the thread. It runs until ``end(_:)``.
    ///
    /// - Parameters:
    ///   - maxCount: how many events may wait or be handled.
    ///   - maxCost: the sum of their costs.
    /// - Returns: nil if no thread can be started.
    public init?(maxCount: Int, maxCost: Int = .max) {
        (self.maxCount, self.maxCost) = (maxCount, maxCost)
        guard BackgroundThread.run({ [self] in handleEvents() }) else { return nil }
    }

    /// Adds an event.
    ///
    /// - Parameter cost: the event's part of the sum, such as the memory that it uses, in bytes.
    /// - Returns: false if too many events wait, and after the end.
    public func add(cost: Int = 0, _ handle: @escaping @Sendable () -> Void) -> Bool {
        let isAdded = state.withLock { state in
            guard !state.hasEnded, state.count < maxCount, cost <= maxCost - state.cost else { return false }
            state.count += 1
            state.cost += cost
            state.waiting.append(Event(cost: cost, handle: handle))
            return true
        }
        if isAdded { semaphore.signal() }
        return isAdded
    }

    /// Ends the thread after the events that wait; they are handled.
    ///
    /// - Parameter last: called after all events, even if too many wait.
    public func end(_ last: @escaping @Sendable () -> Void = {}) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            state.waiting.append(Event(cost: 0, handle: last))
        }
        semaphore.signal()
    }

    private func handleEvents() {
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
                    state.cost -= event.cost
                }
            }
            if isLast { return }
        }
    }
}
