// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyClient

/// Tasks that are started by threads without a task, such as event loops, with the caller and the
/// log of the task that prepared them.
enum BoundTask {
    typealias Work = @Sendable () async -> Void

    /// Returns a function that starts tasks as the current one would.
    static func starter() -> @Sendable (@escaping Work) -> Void {
        KeychainClient.boundFunction { (work: @escaping Work) -> Void in _ = Task(operation: work) }
    }
}
