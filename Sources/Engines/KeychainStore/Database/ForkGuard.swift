// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Dispatch

/// Ensures that no connection is open while the process forks: fork(2) waits for calls that are
/// running, and parent and child reopen their connections. posix_spawn(3) is not affected.
final class ForkGuard: @unchecked Sendable {  // because the pools are only reached between wait and signal
    static let shared = ForkGuard()

    private struct Watched {
        weak var pool: ConnectionPool?
    }

    private let semaphore = DispatchSemaphore(value: 1)
    private var watched: [Watched] = []
    /// The pools that are paused during a fork.
    private var paused: [ConnectionPool] = []

    private init() {
        latchkey_at_fork({ ForkGuard.shared.prepare() }, { ForkGuard.shared.finish() })
    }

    func watch(_ pool: ConnectionPool) {
        semaphore.wait()
        defer { semaphore.signal() }
        watched.removeAll { $0.pool == nil }
        watched.append(Watched(pool: pool))
    }

    /// Runs before fork(2), in the thread that forks. Keeps the semaphore until ``finish()``.
    private func prepare() {
        semaphore.wait()
        paused = watched.compactMap(\.pool)
        for pool in paused { pool.pause() }
    }

    /// Runs after fork(2), in the parent and in the child.
    private func finish() {
        for pool in paused { pool.resume() }
        paused = []
        semaphore.signal()
    }
}
