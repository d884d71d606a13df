// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
internal import SystemBus

/// Answers calls on a few threads: those of one process one after the other, in their order, and processes in
/// turn. A long call is a step for each turn, searches and lists of items go on in a second step, and one thread is always free for calls that have just begun, so that
/// a process with many or long calls delays the others by less than a step, however many connections it has.
final class FairCalls: Sendable {
    /// A part of the work of a call.
    struct Step: Sendable {
        /// Returns the next part; nil at the end of the work.
        let run: @Sendable () -> Step?
        /// Whether the work is done also when its connection has ended: a program need not wait for the answer to
        /// a lock or a deletion.
        var isKept = false

        init(_ run: @escaping @Sendable () -> Step?) { self.run = run }

        /// The same step with work that is kept.
        var kept: Step {
            var step = self
            step.isKept = true
            return step
        }
    }

    private struct Entry {
        let connection: BusName
        let step: Step
    }

    /// The work of one process.
    private struct Lane {
        var waiting: ArraySlice<Entry> = []
        /// The connection of the running step.
        var running: BusName?
        /// Whether that connection has ended, so that the step is the last one of its call.
        var hasEnded = false
    }

    private struct State {
        /// A process without work has no lane.
        var lanes: [CallAccount: Lane] = [:]
        /// The lanes with a call to begin, and those with a call to continue, the next one first.
        var beginning: ArraySlice<CallAccount> = []
        var continuing: ArraySlice<CallAccount> = []
        /// The number of threads that continue calls.
        var continuingThreads = 0
        var isContinuingNext = false
        var hasEnded = false
    }

    /// The next step of one thread.
    private struct Turn {
        let lane: CallAccount
        let step: Step
        let isContinuation: Bool
    }

    private let threads: Int
    private let state = SystemMutex(State())
    /// At least as often as there is a turn for another thread.
    private let semaphore = DispatchSemaphore(value: 0)

    /// Starts the threads. They run until ``end()``.
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

    /// Whether no work waits or is done.
    var isIdle: Bool { state.withLock { $0.lanes.isEmpty } }

    /// Adds work for a process. How much waits is limited by the unanswered calls of the bus.
    func add(for caller: BusCaller, _ step: @escaping @Sendable () -> Step?) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            Self.append(Entry(connection: caller.connection, step: Step(step)), to: caller.account, &state)
        }
        semaphore.signal()
    }

    /// Releases the waiting steps of a connection that has ended, unless they are kept, and does `last` after the step
    /// that runs for it. That step is its last one.
    func end(_ connection: BusName, _ last: @escaping @Sendable () -> Void) {
        let dropped = state.withLock { state -> [Entry] in
            guard !state.hasEnded else { return [] }
            let entry = Entry(
                connection: connection,
                step: Step {
                    last()
                    return nil
                })
            let dropped = Self.removeAll(of: connection, &state)
            if let (key, running) = state.lanes.first(where: { $0.value.running == connection }) {
                var lane = running
                lane.hasEnded = true
                lane.waiting.insert(entry, at: lane.waiting.startIndex)
                state.lanes[key] = lane
            } else {
                Self.append(entry, to: .connection(connection), &state)
            }
            return dropped
        }
        semaphore.signal()
        // Calls that are released here fail, and the failure takes the lock of the bus.
        withExtendedLifetime(dropped) {}
    }

    /// Ends the threads after the steps that run. Waiting steps are released.
    func end() {
        let dropped = state.withLock { state in
            defer { (state.lanes, state.beginning, state.continuing, state.hasEnded) = ([:], [], [], true) }
            return state.lanes
        }
        for _ in 0..<threads { semaphore.signal() }
        withExtendedLifetime(dropped) {}
    }

    // MARK: The threads

    private func run() {
        while true {
            semaphore.wait()
            while let turn = state.withLock({ Self.take(&$0, threads) }) {
                let rest = turn.step.run()
                let dropped = state.withLock { Self.finish(turn, rest, &$0) }
                withExtendedLifetime(dropped) {}
            }
            if state.withLock({ $0.hasEnded }) { return }
        }
    }

    private static func take(_ state: inout State, _ threads: Int) -> Turn? {
        let canContinue = !state.continuing.isEmpty && state.continuingThreads < max(1, threads - 1)
        let isContinuation = canContinue && (state.isContinuingNext || state.beginning.isEmpty)
        guard let lane = isContinuation ? state.continuing.popFirst() : state.beginning.popFirst(),
            let entry = state.lanes[lane]?.waiting.popFirst()
        else { return nil }
        state.isContinuingNext = !isContinuation
        if isContinuation { state.continuingThreads += 1 }
        state.lanes[lane]?.running = entry.connection
        state.lanes[lane]?.hasEnded = false
        return Turn(lane: lane, step: entry.step, isContinuation: isContinuation)
    }

    /// - Returns: the rest of the call, if it is dropped.
    private static func finish(_ turn: Turn, _ rest: Step?, _ state: inout State) -> Step? {
        if turn.isContinuation { state.continuingThreads -= 1 }
        guard var lane = state.lanes[turn.lane], let connection = lane.running else { return rest }
        lane.running = nil
        let rest = turn.step.isKept ? rest?.kept : rest
        let goesOn = rest.map { $0.isKept || !lane.hasEnded } ?? false
        if goesOn, let rest {
            lane.waiting.insert(Entry(connection: connection, step: rest), at: lane.waiting.startIndex)
        }
        state.lanes[turn.lane] = lane.waiting.isEmpty ? nil : lane
        if goesOn {
            state.continuing.append(turn.lane)
        } else if !lane.waiting.isEmpty {
            state.beginning.append(turn.lane)
        }
        return goesOn ? nil : rest
    }

    // MARK: The lanes

    private static func append(_ entry: Entry, to lane: CallAccount, _ state: inout State) {
        if state.lanes[lane] == nil { state.beginning.append(lane) }
        state.lanes[lane, default: Lane()].waiting.append(entry)
    }

    private static func removeAll(of connection: BusName, _ state: inout State) -> [Entry] {
        var removed: [Entry] = []
        func isRemoved(_ entry: Entry) -> Bool { entry.connection == connection && !entry.step.isKept }
        for (key, lane) in state.lanes where lane.waiting.contains(where: isRemoved) {
            removed += lane.waiting.filter(isRemoved)
            state.lanes[key]?.waiting.removeAll(where: isRemoved)
            guard state.lanes[key]?.waiting.isEmpty == true, lane.running == nil else { continue }
            state.lanes[key] = nil
            state.beginning.removeAll { $0 == key }
            state.continuing.removeAll { $0 == key }
        }
        return removed
    }

    private static let usualThreads = 4
}
