// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lets operations pass at the same time, and stops all of them for a moment.
final class OperationGate: Sendable {
    // because a lock of the C library is made for several threads, and its memory does not move
    nonisolated(unsafe) private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_rwlock_t())
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // Operations that begin wait for the one that stops them: a steady load cannot keep it waiting.
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs an operation. It must not pass again.
    func pass(_ operation: () -> Void) {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        operation()
    }

    /// Waits until the operations that have begun are over, and calls `body` while none runs.
    func stop(_ body: () -> Void) {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        body()
    }
}
