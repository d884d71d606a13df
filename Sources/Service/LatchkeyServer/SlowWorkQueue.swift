// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyOperations
internal import LinuxSystem

/// The waiting and the running work. Users are scheduled round-robin, and each is limited to its
/// share.
struct SlowWorkQueue {
    /// The users with waiting work, the next one first.
    private var userOrder: [UInt32] = []
    private var waiting: [UInt32: [SlowWork]] = [:]
    private var running: [Running] = []
    private var threads = 0
    /// The total number of threads that were started; for tests.
    private(set) var startedThreads = 0
    private var isClosed = false

    private struct Running {
        let work: SlowWork
        /// The current kind: a derivation becomes a computation when it releases its permit.
        let kind: SlowWork.Kind
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    /// - Returns: false if the queue is closed.
    mutating func add(_ work: SlowWork) -> Bool {
        guard !isClosed else { return false }
        if waiting[work.user] == nil { userOrder.append(work.user) }
        waiting[work.user, default: []].append(work)
        return true
    }

    /// Returns the work to start now; if none may start, returns nil and releases the calling
    /// thread.
    mutating func next(_ limits: ServerLimits) -> SlowWork? {
        for user in userOrder {
            guard let work = waiting[user]?.first(where: { canStart($0, limits) }) else { continue }
            _ = removeWaiting(work)
            // Moved to the end of the queue.
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
        // Each takes up to 256 MiB: one for each user, and in total as many as the service's memory
        // allows.
        return !own.contains { $0.kind == .derivation } && running.count { $0.kind == .derivation } < limits.derivations
    }

    /// - Returns: whether the work was still waiting.
    mutating func removeWaiting(_ work: SlowWork) -> Bool {
        guard var list = waiting[work.user], let index = list.firstIndex(where: { $0 === work }) else { return false }
        list.remove(at: index)
        waiting[work.user] = list.isEmpty ? nil : list
        if list.isEmpty { userOrder.removeAll { $0 == work.user } }
        return true
    }

    /// Removes work that has ended.
    mutating func remove(_ work: SlowWork) { running.removeAll { $0.work === work } }

    /// Counts running work as a computation from now on, because its derivations are done.
    mutating func releaseDerivation(of work: SlowWork) {
        running = running.map { $0.work === work ? Running(work: work, kind: .computation) : $0 }
    }

    /// Cancels running work, and returns the work that was waiting.
    mutating func close() -> [SlowWork] {
        isClosed = true
        for entry in running { entry.work.cancellation.request() }
        defer { (userOrder, waiting) = ([], [:]) }
        return waiting.values.flatMap { $0 }
    }

    // MARK: Threads

    /// - Returns: whether to start one more thread. A started thread without work takes the next
    ///   work, so a new thread is needed only if there is none and some waiting work may start.
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
