// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Runs work for many values on several threads.
public enum WorkerThreads {
    /// Calls `body` with every value that `next` returns, until it returns nil, and waits for the
    /// end. With one thread, or if no thread can be started, everything runs on the calling one.
    ///
    /// - Parameters:
    ///   - count: the threads, including the calling one.
    ///   - next: called by one thread at a time.
    public static func forEach<Value: Sendable>(
        threads count: Int, next: @escaping @Sendable () -> Value?, _ body: @escaping @Sendable (Value) -> Void
    ) {
        let lock = SystemMutex(())
        let work: @Sendable () -> Void = {
            while let value = lock.withLock({ _ in next() }) { body(value) }
        }
        let group = DispatchGroup()
        for _ in 1..<max(1, count) {
            group.enter()
            let isRunning = BackgroundThread.run {
                work()
                group.leave()
            }
            if !isRunning { group.leave() }
        }
        work()
        group.wait()
    }

    /// The processors that this process may use.
    public static var processorCount: Int { min(max(1, sysconf(numericCast(_SC_NPROCESSORS_ONLN))), 4096) }
}
