// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
internal import SystemBus

/// Answers calls one after the other on a thread of its own: those of one program in their order, and
/// programs in turn, so that a program waits for at most one call of each other program.
final class FairCalls: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        /// What waits, by program. None is empty.
        var lanes: [BusName: ArraySlice<Work>] = [:]
        /// The programs for which something waits, the next one first.
        var turns: ArraySlice<BusName> = []
        var hasEnded = false
    }

    private let state = SystemMutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    /// Starts the thread, which runs until ``end()``.
    ///
    /// - Returns: nil if no thread can be started.
    init?() {
        guard BackgroundThread.run({ [self] in run() }) else { return nil }
    }

    /// Adds work for a program. How much waits is limited by the unanswered calls of the bus.
    func add(for program: BusName, _ work: @escaping Work) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            if state.lanes[program] == nil { state.turns.append(program) }
            state.lanes[program, default: []].append(work)
        }
        semaphore.signal()
    }

    /// Releases what waits for a program that has ended, and does `last` after what is being done.
    func end(_ program: BusName, _ last: @escaping Work) {
        let dropped = state.withLock { state -> ArraySlice<Work> in
            guard !state.hasEnded else { return [] }
            let dropped = state.lanes[program] ?? []
            if dropped.isEmpty { state.turns.append(program) }
            state.lanes[program] = [last]
            return dropped
        }
        semaphore.signal()
        // Calls that are released here fail, which takes the lock of the bus.
        withExtendedLifetime(dropped) {}
    }

    /// Ends the thread. What waits is released.
    func end() {
        let dropped = state.withLock { state in
            defer { (state.lanes, state.turns, state.hasEnded) = ([:], [], true) }
            return state.lanes
        }
        semaphore.signal()
        withExtendedLifetime(dropped) {}
    }

    private func run() {
        while true {
            semaphore.wait()
            let (work, hasEnded) = state.withLock { state in (Self.next(&state), state.hasEnded) }
            if hasEnded { return }
            // Nothing waits if what the signal was for has been released.
            work?()
        }
    }

    private static func next(_ state: inout State) -> Work? {
        guard let program = state.turns.popFirst() else { return nil }
        let work = state.lanes[program]?.popFirst()
        if state.lanes[program]?.isEmpty == true {
            state.lanes[program] = nil
        } else {
            state.turns.append(program)
        }
        return work
    }
}
