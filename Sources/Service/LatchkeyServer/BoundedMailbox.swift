// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Hands values from threads that must not wait to one that does. What nobody takes is dropped, the oldest first.
final class BoundedMailbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { values in
            if values.count >= Self.maxCount { values.removeFirst() }
            values.append(value)
        }
        arrived.signal()
    }

    /// What has come; waits a while where nothing has.
    func take(waitingMilliseconds: Int) -> [Value] {
        _ = arrived.wait(timeout: .now() + .milliseconds(waitingMilliseconds))
        return values.withLock { values in
            defer { values = [] }
            return values
        }
    }

    private static var maxCount: Int { 64 }
}
