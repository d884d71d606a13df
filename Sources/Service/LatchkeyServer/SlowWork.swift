// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LatchkeyOperations
internal import LinuxSystem

/// One operation of a ``SlowWorkPool``.
final class SlowWork: Sendable {
    typealias Kind = SlowWorkKind

    let kind: Kind
    let user: UInt32
    let cancellation = Cancellation()
    let body: @Sendable () -> Void
    private let ended = DispatchSemaphore(value: 0)

    init(_ kind: Kind, user: UInt32, body: @escaping @Sendable () -> Void) {
        (self.kind, self.user, self.body) = (kind, user, body)
    }

    /// Wakes the thread that waits for the end.
    func end() { ended.signal() }

    func waitUntilEnded(milliseconds: Int) -> Bool {
        ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }
}
