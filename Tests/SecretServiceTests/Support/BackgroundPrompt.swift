// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LinuxSystem
import Synchronization

/// A wait for a result on a thread of its own.
final class BackgroundPrompt: Sendable {
    private let result = Mutex<Result<Bool, any Error>?>(nil)

    init(_ work: @escaping @Sendable () throws -> Bool) {
        let isRunning = BackgroundThread.run { [self] in
            let outcome = Result(catching: work)
            result.withLock { $0 = outcome }
        }
        if !isRunning { result.withLock { $0 = .failure(CancellationError()) } }
    }

    /// Waits for the result; nil if there is none, or an error.
    func value() -> Bool? {
        _ = eventually { result.withLock { $0 != nil } }
        return result.withLock { $0.flatMap { try? $0.get() } }
    }
}
