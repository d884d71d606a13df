// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient

/// Runs a blocking call on one of the process's threads for them, with the caller of the current
/// task.
///
/// - Parameter completion: receives the result on that thread; an error in the form for the app.
func runInBackground<Value: Sendable>(
    _ call: @escaping @Sendable () throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
) {
    BlockingCallPool.shared.run(
        KeychainClient.bound { completion(Result { try call() }.mapError { LAError.reporting($0) }) })
}

/// Runs a blocking call as ``runInBackground(_:completion:)`` does, and waits for its result.
func inBackground<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        runInBackground(call) { continuation.resume(with: $0) }
    }
}

/// Waits for a call that reports its end to a handler.
func awaitCompletion(_ start: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        start { error in
            continuation.resume(with: error.map { .failure($0) } ?? .success(()))
        }
    }
}

extension Result {
    /// The value; nil for a failure.
    var value: Success? { try? get() }

    /// The error; nil for a success.
    var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
