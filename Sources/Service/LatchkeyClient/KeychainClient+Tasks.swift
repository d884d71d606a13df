// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyService
internal import Synchronization

extension KeychainClient {
    /// Runs a blocking call on a thread of ``BlockingCallPool``, with the caller and the log of the
    /// current task.
    ///
    /// - Throws: errSecUserCanceled if the task is cancelled before the call starts. A call that has
    ///   started is not interrupted.
    package static func perform<Value: Sendable>(
        _ call: @escaping @Sendable () throws(KeychainError) -> Value
    ) async throws(KeychainError) -> Value {
        let cancellation = CancellationFlag()
        let call = bound { Result { () throws(KeychainError) in try call() } }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, KeychainError>, Never>) in
                BlockingCallPool.shared.run {
                    guard !cancellation.isRaised.load(ordering: .acquiring) else {
                        return continuation.resume(returning: .failure(cancelled))
                    }
                    continuation.resume(returning: call())
                }
            }
        } onCancel: {
            cancellation.isRaised.store(true, ordering: .releasing)
        }
        return try outcome.get()
    }

    /// Returns a call that runs on any thread with the caller and the log of the current task.
    package static func bound<Value>(_ call: @escaping @Sendable () -> Value) -> @Sendable () -> Value {
        let function = boundFunction { (_: Void) in call() }
        return { function(()) }
    }

    /// Returns a function that runs on any thread with the caller and the log of the current task.
    package static func boundFunction<Argument, Value>(
        _ call: @escaping @Sendable (Argument) -> Value
    ) -> @Sendable (Argument) -> Value {
        let (context, log, scope) = (CallerContext.current, ProgramLog.current, KeychainScope.current)
        return { argument in
            CallerContext.$current.withValue(context) {
                ProgramLog.$current.withValue(log) {
                    KeychainScope.$current.withValue(scope) { call(argument) }
                }
            }
        }
    }

    private static let cancelled = KeychainError(
        .userCanceled, "the task was cancelled before the call started, and nothing was changed")
}

/// Whether a task has been cancelled, for the thread that runs its call.
private final class CancellationFlag: Sendable {
    let isRaised = Atomic(false)
}
