// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A terminal for the prompts of another program. It keeps the settings that the terminal had, for the case that the
/// program is ended before it restores them.
public struct OpenTerminal: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let settings: termios
    /// The user who owns the terminal's device file.
    public let owner: UInt32

    /// Opens a terminal. It does not become the controlling terminal of this process.
    ///
    /// - Throws: `SystemError`, `ENOTTY` if the file is not a terminal.
    public init(path: String) throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDWR | O_NOCTTY | O_NONBLOCK)
        var settings = termios()
        guard tcgetattr(descriptor.rawValue, &settings) == 0 else { throw .last("prompt on", path: path) }
        owner = try FileStatus.of(descriptor, path: path).owner
        self.settings = settings
        self.descriptor = descriptor
    }

    /// Whether this process is in the foreground of the terminal, so that Ctrl-C there is sent to
    /// it.
    public var isForegroundOfThisProcess: Bool { tcgetpgrp(descriptor.rawValue) == getpgrp() }

    /// Restores the settings that the terminal had when it was opened.
    public borrowing func restore() {
        // SIGTTOU would stop this process if it is in the background of the terminal.
        var outputSignal = sigset_t()
        sigemptyset(&outputSignal)
        sigaddset(&outputSignal, SIGTTOU)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &outputSignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var settings = settings
        tcsetattr(descriptor.rawValue, TCSANOW, &settings)
    }

    /// Returns the path of the terminal of this process: the one of its standard input, output or
    /// error; nil if none of them is a terminal.
    public static func pathOfThisProcess() -> String? {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            var buffer = [CChar](repeating: 0, count: 256)
            guard ttyname_r(descriptor, &buffer, buffer.count) == 0 else { continue }
            return String(validating: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return nil
    }
}
