// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The signals that ask a program to end.
public enum TerminationSignals {
    /// Blocks the signals in this thread, so that from now on they no longer end the process, and
    /// calls `body` on another thread when the first of them arrives.
    ///
    /// For a program's own use, in its first thread, before it starts others.
    ///
    /// - Parameter numbers: the signals.
    /// - Returns: false if no thread could be started; then nothing has changed.
    public static func handle(_ numbers: [Int32], _ body: @escaping @Sendable () -> Void) -> Bool {
        var before = sigset_t()
        var signals = set(of: numbers)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        // A thread of this kind blocks every signal, as sigwait(3) requires.
        let isRunning = BackgroundThread.run {
            var (waited, number) = (set(of: numbers), Int32(0))
            while sigwait(&waited, &number) != 0 {}
            body()
        }
        if !isRunning { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return isRunning
    }

    /// Does the same for SIGTERM, SIGINT and SIGHUP.
    public static func handle(_ body: @escaping @Sendable () -> Void) -> Bool {
        handle([SIGTERM, SIGINT, SIGHUP], body)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
