// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Passes values from threads that must not block to one thread that waits for them. When the
/// mailbox is full, the oldest value is dropped.
final class BoundedMailbox<Value: Sendable>: Sendable {
    /// Raised when a value has arrived.
    let arrived: WakeSignal
    private let values = SystemMutex<[Value]>([])

    init() throws(KeychainError) {
        do throws(SystemError) { arrived = try WakeSignal() } catch { throw KeychainError(error) }
    }

    func put(_ value: Value) {
        values.withLock { values in
            if values.count >= Self.maxCount { values.removeFirst() }
            values.append(value)
        }
        arrived.raise()
    }

    /// Returns and removes all values.
    func take() -> [Value] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }

    private static var maxCount: Int { 64 }
}
