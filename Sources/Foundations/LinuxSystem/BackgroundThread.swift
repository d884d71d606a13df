// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A thread of its own for one piece of work. Unlike a dispatch queue it also runs in a forked child.
public enum BackgroundThread {
    /// Whether threads are refused as by a system that has none left; for tests of what follows from that.
    @TaskLocal @_spi(Testing) public static var isExhausted = false

    /// Runs `work` on a new thread, which takes none of the process's signals.
    ///
    /// - Returns: false where the system has no more threads to give; nothing runs then.
    @discardableResult
    public static func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard !isExhausted else { return false }
        let box = Unmanaged.passRetained(Work(work))
        var every = sigset_t()
        var before = sigset_t()
        sigfillset(&every)
        pthread_sigmask(SIG_BLOCK, &every, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }

    /// Lets every other thread of normal priority run before the calling one, from now on.
    ///
    /// Where the system forbids it, nothing changes: priority is a courtesy, not a limit.
    public static func lowerPriority() {
        // Linux counts 0 as the calling thread alone (setpriority(2), "C library/kernel differences").
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
