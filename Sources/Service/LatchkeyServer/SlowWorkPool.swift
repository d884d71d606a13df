// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LinuxSystem
internal import Synchronization

/// Runs what takes long (generating RSA keys, deriving keys from passcodes, restoring, checking) on a few threads of low priority, so that one
/// user does not take the processors and the memory from the others.
///
/// Users take turns, however much each of them asks for. Work whose result is no longer wanted is cancelled: it never starts, or ends at its
/// next step (`Cancellation`). A derivation that releases its place (`DerivationPermit`) runs on as a computation.
final class SlowWorkPool: Sendable {
    private let limits: ServerLimits
    private let queue = Mutex(SlowWorkQueue())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// Runs `body` on a thread of the pool, and gives its result.
    ///
    /// - Parameter isAbandoned: asked ten times a second whether the result is no longer wanted.
    /// - Throws: what `body` throws; errSecNotAvailable where the work was cancelled before it began, or the pool has ended.
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

    /// Cancels everything, and takes nothing more.
    func stop() {
        for work in queue.withLock({ $0.close() }) { work.end() }
    }

    /// How much runs, and how much waits; for tests.
    var load: (running: Int, waiting: Int) { queue.withLock { ($0.runningCount, $0.waitingCount) } }

    /// How many threads were ever started; for tests.
    var startedThreads: Int { queue.withLock { $0.startedThreads } }

    private func startThreads() {
        while queue.withLock({ $0.acquireThread(limits) }) {
            guard BackgroundThread.run({ [self] in runWork() }) else {
                // Those that run already do the work; without any, the next request tries again.
                return queue.withLock { $0.releaseThread() }
            }
        }
    }

    /// What a thread does: work, until none may begin.
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
        .notAvailable, "the operation was not begun: latchkeyd is stopping, or its client has gone", hint: "try again")

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, KeychainError>?>(nil)

        var value: Result<Value, KeychainError>? { result.withLock { $0 } }

        func set(_ value: Result<Value, KeychainError>) { result.withLock { $0 = value } }
    }
}
