// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Announces changes of the store that other programs have made, several in one announcement.
final class ChangeAnnouncer: Sendable {
    private struct State {
        var pending: Set<SecretStoreChange> = []
        var isScheduled = false
    }

    private let state = SystemMutex(State())
    private let announce: @Sendable (Set<SecretStoreChange>) -> Void

    /// - Parameter announce: called on a thread that may block.
    init(_ announce: @escaping @Sendable (Set<SecretStoreChange>) -> Void) { self.announce = announce }

    /// Announces the change soon, with those that follow meanwhile.
    func add(_ change: SecretStoreChange) {
        let isFirst = state.withLock { state in
            state.pending.insert(change)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        let isRunning = BackgroundThread.run { [self] in
            usleep(Self.pause)
            flush()
        }
        if !isRunning { flush() }
    }

    private func flush() {
        let changes = state.withLock { state in
            defer { (state.pending, state.isScheduled) = ([], false) }
            return state.pending
        }
        announce(changes)
    }

    /// A fifth of a second, in microseconds.
    private static let pause: UInt32 = 200_000
}
