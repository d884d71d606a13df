// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A process that goes on after the one that has started it with `ChildProcess.startInBackground`.
public enum BackgroundProcess {
    /// Tells the process that has started this one that it is ready, and leaves its terminal.
    ///
    /// - Parameter descriptor: the pipe that it waits for.
    public static func isReady(_ descriptor: Int32) {
        setsid()
        chdir("/")
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where null >= 0 { dup2(null, stream) }
        _ = write(descriptor, [1] as [UInt8], 1)
        close(descriptor)
    }
}
