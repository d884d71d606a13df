// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem

/// Lets a thread wait for the operations that have begun. Others begin meanwhile: one that takes long does not
/// delay them.
final class OperationGate: Sendable {
    private let running = SystemMutex(DispatchGroup())
    /// Held by a thread that waits: another one must also wait for the operations of its group.
    private let waiting = SystemMutex(())

    /// Runs an operation.
    func pass(_ operation: () -> Void) {
        let group = running.withLock { group in
            group.enter()
            return group
        }
        defer { group.leave() }
        operation()
    }

    /// Waits until the operations that have begun are over.
    func awaitBegun() {
        waiting.withLock { _ in
            let begun = running.withLock { group in
                defer { group = DispatchGroup() }
                return group
            }
            begun.wait()
        }
    }
}
