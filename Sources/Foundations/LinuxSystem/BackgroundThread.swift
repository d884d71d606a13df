// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import Synchronization

/// Runs one piece of work on a new thread. Unlike a dispatch queue, it also works in a forked
/// child.
public enum BackgroundThread {
    /// Whether thread creation fails, as on a system without free threads; for tests.
    @TaskLocal @_spi(Testing) public static var isExhausted = false

    /// Runs `work` on a new thread that blocks all signals.
    ///
    /// - Returns: false if the system cannot create a thread; then `work` does not run.
    @discardableResult
    public static func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = start(work, stackLength: nil) else { return false }
        pthread_detach(thread)
        return true
    }

    /// Runs `work` on a new thread with a stack of its own, and waits for its result.
    ///
    /// - Parameter stackLength: in bytes; memory is used when the stack grows into it.
    /// - Returns: nil if the system cannot create the thread; then `work` does not run.
    public static func result<Value: Sendable>(stackLength: Int, of work: @escaping @Sendable () -> Value) -> Value? {
        let result = WorkResult<Value>()
        guard let thread = start({ result.value.withLock { $0 = work() } }, stackLength: stackLength) else {
            return nil
        }
        pthread_join(thread, nil)
        return result.value.withLock { $0 }
    }

    private static func start(_ work: @escaping @Sendable () -> Void, stackLength: Int?) -> pthread_t? {
        guard !isExhausted else { return nil }
        let box = Unmanaged.passRetained(Work(work))
        var every = sigset_t()
        var before = sigset_t()
        sigfillset(&every)
        pthread_sigmask(SIG_BLOCK, &every, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackLength { pthread_attr_setstacksize(&attributes, stackLength) }
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return nil
        }
        return thread
    }

    /// Lowers the priority of the calling thread, so that threads of normal priority run first.
    ///
    /// If the system does not permit it, nothing changes: the priority is not a limit that anything
    /// depends on.
    public static func lowerPriority() {
        // On Linux, 0 means only the calling thread (setpriority(2), "C library/kernel
        // differences").
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private final class WorkResult<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}
