// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Ends a child of this process and reaps it: first with SIGTERM, so that it can restore its
/// terminal, then with SIGKILL.
struct ProcessEnding {
    private let process: pid_t
    private let hasSession: Bool

    /// - Parameter hasSession: whether the child leads a session. The other processes of the session are ended with it.
    init(_ process: pid_t, hasSession: Bool) { (self.process, self.hasSession) = (process, hasSession) }

    /// Returns when the child is reaped, or after ``terminationTimeout`` and ``killTimeout``.
    func end() {
        signal(SIGTERM)
        if !waitUntilEnded(timeout: Self.terminationTimeout) {
            signal(SIGKILL)
            _ = waitUntilEnded(timeout: Self.killTimeout)
        }
        // Until the child is reaped, its number belongs to it, and so does the process group.
        if hasSession { signal(SIGKILL) }
        guard waitpid(process, nil, WNOHANG) == 0 else { return }
        // The kernel has not yet ended the child, because it waits for a device.
        let process = process
        BackgroundThread.run {
            while waitpid(process, nil, 0) < 0, errno == EINTR {}
        }
    }

    private enum State { case running, ended, reaped }

    private var state: State {
        var info = siginfo_t()
        while waitid(P_PID, id_t(bitPattern: process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 {
            // Another part of the program has reaped it, or ignores SIGCHLD (waitpid(2), ECHILD).
            guard errno == EINTR else { return .reaped }
        }
        return info.si_signo == 0 ? .running : .ended
    }

    private func signal(_ number: Int32) {
        guard state != .reaped else { return }
        kill(hasSession ? -process : process, number)
    }

    private func waitUntilEnded(timeout: UInt64) -> Bool {
        let deadline = BootClock.system.now() &+ timeout
        while state == .running {
            guard BootClock.system.now() < deadline else { return false }
            usleep(2000)
        }
        return true
    }

    /// In nanoseconds.
    private static let terminationTimeout: UInt64 = 500_000_000
    private static let killTimeout: UInt64 = 2_000_000_000
}
