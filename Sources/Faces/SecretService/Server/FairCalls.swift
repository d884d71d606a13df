// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
internal import SystemBus

/// Answers calls on a few threads: those of one program one after the other, in their order, and programs
/// in turn. So a program with many or long calls takes one thread, and the others wait for none of them,
/// or, if there are more such programs than threads, for one call of each.
final class FairCalls: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        /// What waits, by program; empty for a program whose last call is being answered.
        var lanes: [BusName: ArraySlice<Work>] = [:]
        /// The programs for which something waits and nothing is being done, the next one first. The
        /// semaphore counts them.
        var turns: ArraySlice<BusName> = []
        var hasEnded = false
    }

    private let threads: Int
    private let state = SystemMutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    /// Starts the threads, which run until ``end()``.
    ///
    /// - Returns: nil if a thread cannot be started.
    init?(threads: Int = usualThreads) {
        self.threads = threads
        for _ in 0..<threads {
            guard BackgroundThread.run({ [self] in run() }) else {
                end()
                return nil
            }
        }
    }

    /// Adds work for a program. How much waits is limited by the unanswered calls of the bus.
    func add(for program: BusName, _ work: @escaping Work) {
        let isFirst = state.withLock { state in
            guard !state.hasEnded else { return false }
            let isFirst = state.lanes[program] == nil
            if isFirst { state.turns.append(program) }
            state.lanes[program, default: []].append(work)
            return isFirst
        }
        if isFirst { semaphore.signal() }
    }

    /// Releases what waits for a program that has ended, and does `last` after what is being done.
    func end(_ program: BusName, _ last: @escaping Work) {
        let (isFirst, dropped) = state.withLock { state -> (Bool, ArraySlice<Work>?) in
            guard !state.hasEnded else { return (false, nil) }
            let dropped = state.lanes[program]
            if dropped == nil { state.turns.append(program) }
            state.lanes[program] = [last]
            return (dropped == nil, dropped)
        }
        if isFirst { semaphore.signal() }
        // Calls that are released here fail, which takes the lock of the bus.
        withExtendedLifetime(dropped) {}
    }

    /// Ends the threads after the calls that are being answered. What waits is released.
    func end() {
        let dropped = state.withLock { state in
            defer { (state.lanes, state.turns, state.hasEnded) = ([:], [], true) }
            return state.lanes
        }
        for _ in 0..<threads { semaphore.signal() }
        withExtendedLifetime(dropped) {}
    }

    private func run() {
        while true {
            semaphore.wait()
            // Nothing waits after the end only.
            guard let (program, work) = state.withLock({ Self.take(&$0) }) else { return }
            work()
            let hasMore = state.withLock { Self.finish(program, &$0) }
            if hasMore { semaphore.signal() }
        }
    }

    private static func take(_ state: inout State) -> (BusName, Work)? {
        guard let program = state.turns.popFirst(), let work = state.lanes[program]?.popFirst() else { return nil }
        return (program, work)
    }

    private static func finish(_ program: BusName, _ state: inout State) -> Bool {
        guard state.lanes[program]?.isEmpty == false else {
            state.lanes[program] = nil
            return false
        }
        state.turns.append(program)
        return true
    }

    private static let usualThreads = 4
}
