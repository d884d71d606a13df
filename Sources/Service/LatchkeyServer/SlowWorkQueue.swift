// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Which work waits, which runs, and which is next: users take turns, and none of them has more than its share at a time.
struct SlowWorkQueue {
    /// The users who wait for something, the next one first.
    private var userOrder: [UInt32] = []
    private var waiting: [UInt32: [SlowWork]] = [:]
    private var running: [Running] = []
    private var threads = 0
    /// How many threads were ever started; for tests.
    private(set) var startedThreads = 0
    private var isClosed = false

    private struct Running {
        let work: SlowWork
        /// What the work is from now on: a derivation becomes a computation when it releases its place.
        let kind: SlowWork.Kind
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    /// - Returns: false where nothing is taken any more.
    mutating func add(_ work: SlowWork) -> Bool {
        guard !isClosed else { return false }
        if waiting[work.user] == nil { userOrder.append(work.user) }
        waiting[work.user, default: []].append(work)
        return true
    }

    /// The work that begins now; nil where none may, for which the thread that asked is given back.
    mutating func next(_ limits: ServerLimits) -> SlowWork? {
        for user in userOrder {
            guard let work = waiting[user]?.first(where: { canStart($0, limits) }) else { continue }
            _ = removeWaiting(work)
            // Behind all others.
            if waiting[user] != nil {
                userOrder.removeAll { $0 == user }
                userOrder.append(user)
            }
            running.append(Running(work: work, kind: work.kind))
            return work
        }
        releaseThread()
        return nil
    }

    private func canStart(_ work: SlowWork, _ limits: ServerLimits) -> Bool {
        let own = running.filter { $0.work.user == work.user }
        guard own.count < limits.slowWorkPerUser else { return false }
        guard work.kind == .derivation else { return true }
        // Each takes up to 256 MiB: one of a user, and as many as the memory of the service is for.
        return !own.contains { $0.kind == .derivation } && running.count { $0.kind == .derivation } < limits.derivations
    }

    /// - Returns: whether it waited still.
    mutating func removeWaiting(_ work: SlowWork) -> Bool {
        guard var list = waiting[work.user], let index = list.firstIndex(where: { $0 === work }) else { return false }
        list.remove(at: index)
        waiting[work.user] = list.isEmpty ? nil : list
        if list.isEmpty { userOrder.removeAll { $0 == work.user } }
        return true
    }

    /// Notes that work has ended.
    mutating func remove(_ work: SlowWork) { running.removeAll { $0.work === work } }

    /// Counts running work as a computation from now on: its derivations are done.
    mutating func releaseDerivation(of work: SlowWork) {
        running = running.map { $0.work === work ? Running(work: work, kind: .computation) : $0 }
    }

    /// Cancels what runs, and gives what waited.
    mutating func close() -> [SlowWork] {
        isClosed = true
        for entry in running { entry.work.cancellation.request() }
        defer { (userOrder, waiting) = ([], [:]) }
        return waiting.values.flatMap { $0 }
    }

    // MARK: Threads

    /// - Returns: whether one more thread is to be started. One that is on its way to work takes the next; only what may begin needs another.
    mutating func acquireThread(_ limits: ServerLimits) -> Bool {
        guard threads < limits.slowThreads, threads == running.count,
            waiting.values.contains(where: { $0.contains { canStart($0, limits) } })
        else { return false }
        threads += 1
        startedThreads += 1
        return true
    }

    mutating func releaseThread() { threads -= 1 }
}
