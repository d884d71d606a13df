// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value that one thread at a time uses, protected by a mutex of the C library (pthread_mutex(3)).
///
/// It has the interface of `Synchronization.Mutex`. On Linux, that is a futex with priority inheritance: when it is
/// unlocked, the kernel passes it to the thread that waits for it, and the running thread must sleep to lock it again.
/// With more threads than processors, each lock then costs a switch between threads
/// (Documentation/Decisions/0051-mutexes.md).
public struct SystemMutex<Value: ~Copyable>: ~Copyable {
    // On the heap, because a mutex must not move.
    @usableFromInline let value: UnsafeMutablePointer<Value>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init(_ initial: consuming sending Value) {
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value. It must not lock the same mutex again.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try body(&value.pointee)
    }

    @usableFromInline
    borrowing func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    borrowing func unlock() { pthread_mutex_unlock(mutex) }
}

// Unchecked, because the mutex serializes all accesses to the value.
extension SystemMutex: @unchecked Sendable where Value: ~Copyable {}
