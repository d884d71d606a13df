// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Announces changes of the store that other programs have made, several in one announcement.
final class ChangeAnnouncer: Sendable {
    private struct State {
        var pending: Set<SecretStoreChange> = []
        var isScheduled = false
        /// Until the next announcement, in microseconds.
        var pause = ChangeAnnouncer.minPause
    }

    private let state = SystemMutex(State())
    private let announce: @Sendable (Set<SecretStoreChange>) -> Void

    /// - Parameter announce: called on a thread that may block.
    init(_ announce: @escaping @Sendable (Set<SecretStoreChange>) -> Void) { self.announce = announce }

    /// Announces the change soon, with those that follow meanwhile.
    func add(_ change: SecretStoreChange) {
        let pause = state.withLock { state -> UInt32? in
            state.pending.insert(change)
            defer { state.isScheduled = true }
            return state.isScheduled ? nil : state.pause
        }
        guard let pause else { return }
        let isRunning = BackgroundThread.run { [self] in
            usleep(pause)
            flush()
        }
        if !isRunning { flush() }
    }

    private func flush() {
        let changes = state.withLock { state in
            defer { (state.pending, state.isScheduled) = ([], false) }
            return state.pending
        }
        let start = BootClock.system.now()
        announce(changes)
        let microseconds = (BootClock.system.now() &- start) / 1000
        // Announcing takes at most a tenth of the time, also with many items and changes without end.
        let pause = UInt32(clamping: min(microseconds, UInt64(Self.maxPause))) * 9
        state.withLock { $0.pause = min(max(Self.minPause, pause), Self.maxPause) }
    }

    /// A fifth of a second, in microseconds.
    private static let minPause: UInt32 = 200_000
    /// Five seconds, in microseconds.
    private static let maxPause: UInt32 = 5_000_000
}
