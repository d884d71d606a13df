// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LinuxSystem

/// Runs slow operations (generating RSA keys, deriving keys from passcodes, restoring, checking) on
/// a few threads of low priority, so that no user can exhaust the processors and the memory.
///
/// Users are scheduled round-robin, regardless of how much work each of them requests. Work is cancelled when its
/// result is no longer needed: it never starts, or ends at its next step
/// (`Cancellation`). A derivation that releases its `DerivationPermit` continues as a computation.
final class SlowWorkPool: Sendable {
    private let limits: ServerLimits
    private let queue = SystemMutex(SlowWorkQueue())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// Runs `body` on a thread of the pool, and returns its result.
    ///
    /// - Parameter isAbandoned: called ten times a second; returns true if the result is no longer
    ///   needed.
    /// - Throws: the error of `body`; errSecNotAvailable if the work was cancelled before it began, or if the pool is
    ///   stopped.
    func run<Value: Sendable>(
        _ kind: SlowWork.Kind, for user: UInt32, isAbandoned: () -> Bool,
        _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let outcome = Outcome<Value>()
        let work = SlowWork(kind, user: user) { outcome.set(Result { () throws(KeychainError) in try body() }) }
        guard queue.withLock({ $0.add(work) }) else { throw Self.cancelled }
        startThreads()
        while !work.waitUntilEnded(milliseconds: 100) {
            guard isAbandoned() else { continue }
            work.cancellation.request()
            if queue.withLock({ $0.removeWaiting(work) }) { throw Self.cancelled }
        }
        guard let result = outcome.value else { throw Self.cancelled }
        return try result.get()
    }

    /// Cancels all work, and accepts no more.
    func stop() {
        for work in queue.withLock({ $0.close() }) { work.end() }
    }

    /// The number of running and of waiting operations; for tests.
    var load: (running: Int, waiting: Int) { queue.withLock { ($0.runningCount, $0.waitingCount) } }

    /// The total number of threads that were started; for tests.
    var startedThreads: Int { queue.withLock { $0.startedThreads } }

    private func startThreads() {
        while queue.withLock({ $0.acquireThread(limits) }) {
            guard BackgroundThread.run({ [self] in runWork() }) else {
                // Running threads do the work; if there are none, the next request tries again.
                return queue.withLock { $0.releaseThread() }
            }
        }
    }

    /// The body of a thread: runs work until none may start.
    private func runWork() {
        BackgroundThread.lowerPriority()
        while let work = queue.withLock({ $0.next(limits) }) {
            startThreads()
            let permit = DerivationPermit { [self] in
                queue.withLock { $0.releaseDerivation(of: work) }
                startThreads()
            }
            Cancellation.$current.withValue(work.cancellation) {
                DerivationPermit.$current.withValue(permit) { work.body() }
            }
            queue.withLock { $0.remove(work) }
            work.end()
        }
    }

    private static let cancelled = KeychainError(
        .notAvailable, "the operation was not started: latchkeyd is stopping, or the client has disconnected",
        hint: "try again")

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = SystemMutex<Result<Value, KeychainError>?>(nil)

        var value: Result<Value, KeychainError>? { result.withLock { $0 } }

        func set(_ value: Result<Value, KeychainError>) { result.withLock { $0 = value } }
    }
}
