// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The number of events that several threads have seen.
public final class EventCount: Sendable {
    private let number = Atomic(0)

    public init() {}

    public var value: Int { number.load(ordering: .acquiring) }
    public func increase() { number.add(1, ordering: .acquiringAndReleasing) }
}

/// Waits as ``eventually(limit:file:line:_:)`` does, without blocking the thread of the task.
///
/// While other tests block the threads of all tasks, neither this task nor the awaited one runs:
/// the timeout only counts together with the number of this task's turns.
///
/// - Parameter limit: the timeout in seconds.
/// - Returns: false if the condition is not true within the limit, and after 10,000 turns.
public func eventuallyInTask(
    limit: Double = 300, file: String = #fileID, line: Int = #line, _ condition: () -> Bool
) async -> Bool {
    let wait = Wait(atMost: limit, for: "a condition", at: "\(file):\(line)")
    defer { wait.end() }
    var turns = 0
    while !condition() {
        turns += 1
        let isLate = wait.isOver && turns > 10_000
        guard !isLate, (try? await Task.sleep(for: .milliseconds(1))) != nil else { return condition() }
    }
    return true
}
