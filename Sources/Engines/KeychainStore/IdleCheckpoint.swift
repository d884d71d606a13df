// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Empties the write-ahead log once the keychain has been left alone for a while, so that what was deleted or replaced leaves the files
/// without making every single write wait for it.
final class IdleCheckpoint: Sendable {
    private struct State {
        var writes = 0
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let perform: @Sendable () -> Void

    /// - Parameter perform: empties the log. A failure means that somebody is reading; the next write tries again.
    init(_ perform: @escaping @Sendable () -> Void) {
        self.perform = perform
    }

    /// Notes a write; the log is emptied when none followed for ``delay``.
    func schedule() {
        let isFirst = state.withLock { state in
            state.writes += 1
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { wait() }
    }

    private func wait() {
        let seen = state.withLock { $0.writes }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.delay) { [weak self] in
            guard let self else { return }
            let isIdle = self.state.withLock { state in
                if state.writes == seen { state.isScheduled = false }
                return state.writes == seen
            }
            if isIdle { self.perform() } else { self.wait() }
        }
    }

    private static let delay: DispatchTimeInterval = .seconds(2)
}
