// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem

/// Passes values from threads that must not block to one thread that waits for them. When the
/// mailbox is full, the oldest value is dropped.
final class BoundedMailbox<Value: Sendable>: Sendable {
    private let values = SystemMutex<[Value]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { values in
            if values.count >= Self.maxCount { values.removeFirst() }
            values.append(value)
        }
        arrived.signal()
    }

    /// Returns and removes all values; if there are none, waits for one until the timeout.
    func take(waitingMilliseconds: Int) -> [Value] {
        _ = arrived.wait(timeout: .now() + .milliseconds(waitingMilliseconds))
        return values.withLock { values in
            defer { values = [] }
            return values
        }
    }

    private static var maxCount: Int { 64 }
}
