// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LinuxSystem
import Synchronization

/// Work on a thread of its own.
final class BackgroundCall: Sendable {
    private let result = Mutex<Result<Void, any Error>?>(nil)

    init(_ work: @escaping @Sendable () throws -> Void) {
        let isRunning = BackgroundThread.run { [self] in
            let outcome = Result(catching: work)
            result.withLock { $0 = outcome }
        }
        if !isRunning { result.withLock { $0 = .failure(CancellationError()) } }
    }

    /// Waits for the end of the work; returns false if it threw an error.
    func succeeds() -> Bool {
        _ = eventually { result.withLock { $0 != nil } }
        guard case .success? = result.withLock({ $0 }) else { return false }
        return true
    }
}
