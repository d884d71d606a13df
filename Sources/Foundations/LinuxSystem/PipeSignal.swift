// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes to a pipe with a reader that may have ended. SIGPIPE would end this process. It is sent to the thread that
/// writes, so it is blocked and removed in this thread.
enum PipeSignal {
    /// Calls `body`; a write to a closed pipe in it only fails with `EPIPE`.
    static func withoutSignal<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do throws(SystemError) {
            return try body()
        } catch {
            var noTime = timespec()
            if error.code == EPIPE { sigtimedwait(&pipeSignal, nil, &noTime) }
            throw error
        }
    }
}
