// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Empties the write-ahead log when the keychain has been idle for some time. Deleted and replaced
/// data then leaves the files, and no single write has to wait for it.
final class IdleCheckpoint: Sendable {
    private struct State {
        var writes = 0
        var isScheduled = false
    }

    private let state = SystemMutex(State())
    private let perform: @Sendable () -> Void

    /// - Parameter perform: empties the log. It fails while another process or thread reads; the
    ///   next write tries again.
    init(_ perform: @escaping @Sendable () -> Void) {
        self.perform = perform
    }

    /// Records a write. The log is emptied when no other write follows within ``delay``.
    func schedule() {
        let isFirst = state.withLock { state in
            state.writes += 1
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        let isRunning = BackgroundThread.run { [weak self] in
            var seen: Int?
            // Between two checks, nothing keeps the keychain open.
            repeat {
                seen = self?.state.withLock { $0.writes }
                usleep(Self.delay)
            } while self?.isIdle(since: seen) == false
            self?.perform()
        }
        if !isRunning { state.withLock { $0.isScheduled = false } }
    }

    private func isIdle(since seen: Int?) -> Bool {
        state.withLock { state in
            if state.writes == seen { state.isScheduled = false }
            return !state.isScheduled
        }
    }

    /// Two seconds, in microseconds.
    private static let delay: UInt32 = 2_000_000
}
