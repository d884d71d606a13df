// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Time limits with one task that sleeps until the first of them. Most limits never come. A task that sleeps for each
/// limit would wake Dispatch's threads twice for each request.
final class Deadlines: Sendable {
    /// A limit. It is cancelled by its owner, and otherwise comes even if nothing references it.
    struct Deadline: Sendable {
        fileprivate let owner: Deadlines
        fileprivate let number: Int

        func cancel() { owner.remove(number) }
    }

    private struct Entry {
        let instant: ContinuousClock.Instant
        let overdue: @Sendable () -> Void
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var sleeper: (until: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    private static let perProcess = ForkLocal { Deadlines() }
    static var shared: Deadlines { perProcess.value }

    private let state = SystemMutex(State())
    /// About eleven days: even a program's unlimited time must fit into a duration.
    private static let maxSeconds = 1_000_000.0

    init() {}

    /// Calls a function after a time, unless the deadline is cancelled before. The function must not
    /// block.
    func after(_ seconds: Double, _ overdue: @escaping @Sendable () -> Void) -> Deadline {
        let limit = Duration.seconds(min(max(seconds, 0.001), Self.maxSeconds))
        let instant = ContinuousClock.now + limit
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(instant: instant, overdue: overdue)
            sleep(&state, until: instant)
            return state.last
        }
        return Deadline(owner: self, number: number)
    }

    private func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    /// Makes a task sleep, unless one wakes up early enough.
    private func sleep(_ state: inout State, until instant: ContinuousClock.Instant) {
        if let sleeper = state.sleeper {
            if sleeper.until <= instant { return }
            sleeper.task.cancel()
        }
        let task = Task.detached { [weak self] in
            guard (try? await Task.sleep(until: instant, clock: .continuous)) != nil else { return }
            self?.wake(at: instant)
        }
        state.sleeper = (instant, task)
    }

    private func wake(at instant: ContinuousClock.Instant) {
        let overdue = state.withLock { state -> [Entry] in
            // Another task has been started since.
            guard state.sleeper?.until == instant else { return [] }
            state.sleeper = nil
            let now = ContinuousClock.now
            let overdue = state.entries.filter { $0.value.instant <= now }
            for number in overdue.keys { state.entries[number] = nil }
            if let next = state.entries.values.map(\.instant).min() { sleep(&state, until: next) }
            return overdue.values.sorted { $0.instant < $1.instant }
        }
        for entry in overdue { entry.overdue() }
    }
}
