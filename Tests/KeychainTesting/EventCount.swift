// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The number of events that several threads have seen.
public final class EventCount: Sendable {
    private let number = Atomic(0)

    public init() {}

    public var value: Int { number.load(ordering: .acquiring) }
    public func increase() { number.add(1, ordering: .acquiringAndReleasing) }
}

/// Waits as ``eventually(limit:_:)`` does, without blocking the thread of the task.
///
/// - Parameter limit: the timeout in seconds.
/// - Returns: false if the condition is not true within the limit.
public func eventuallyInTask(limit: Double = 300, _ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(limit)
    while !condition() {
        guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(1))) != nil else {
            return condition()
        }
    }
    return true
}
