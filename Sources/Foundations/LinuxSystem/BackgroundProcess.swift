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

    /// Writes a line to the process that has started this one. This process remains on its terminal; nothing more is
    /// written to the descriptor.
    ///
    /// - Parameter descriptor: a pipe; it may be the standard output.
    public static func report(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(descriptor, bytes, bytes.count)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        dup2(null, descriptor)
        close(null)
    }
}
