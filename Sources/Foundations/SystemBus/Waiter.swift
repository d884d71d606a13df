// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem

/// A result that one thread waits for and another one provides. Only the first result counts.
final class Waiter<Value: Sendable>: Sendable {
    private let result = SystemMutex<Result<Value, BusError>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func resolve(_ outcome: Result<Value, BusError>) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = outcome
            return true
        }
        if isFirst { semaphore.signal() }
    }

    /// Returns the result; nil if there is none within the timeout.
    func wait(_ timeout: Duration) -> Result<Value, BusError>? {
        // A century, so that the sum does not overflow.
        let (seconds, attoseconds) = min(timeout, .seconds(3_155_760_000)).components
        let deadline =
            DispatchTime.now() + .seconds(Int(clamping: seconds))
            + .nanoseconds(Int(clamping: attoseconds / 1_000_000_000))
        _ = semaphore.wait(timeout: deadline)
        return result.withLock { $0 }
    }
}
