// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program that this process talks to over two pipes: its standard input and its standard output.
///
/// The program has no standard error, unless it is told to use that of this process. Its environment has only the
/// variables that the caller passes. When the value is destroyed, the program is ended and reaped, with the processes
/// that it started if it has a session of its own.
public struct ConversationProcess: ~Copyable, Sendable {
    /// The number of the process, for messages and tests; this type alone ends it.
    public let process: Int32
    private let input: OwnedDescriptor
    private let output: OwnedDescriptor
    private let startsSession: Bool

    /// Starts the executable at a path.
    ///
    /// - Parameters:
    ///   - environment: the whole environment, as `NAME=value`, byte for byte.
    ///   - startsSession: whether the program starts a session of its own. Without one it remains
    ///     in the process group of this process, and reacts to Ctrl-C on its terminal.
    ///   - inheritsErrors: whether its standard error is that of this process.
    /// - Throws: `SystemError` with `ENOENT` if there is no such program.
    public init(
        executable: String, arguments: [String] = [], environment: [[UInt8]], startsSession: Bool,
        inheritsErrors: Bool = false
    ) throws(SystemError) {
        let toProgram = try Pipe()
        let fromProgram = try Pipe()
        process = try Self.start(
            [executable] + arguments, environment: environment, input: toProgram.reading.rawValue,
            output: fromProgram.writing.rawValue, error: inheritsErrors ? STDERR_FILENO : nil,
            startsSession: startsSession)
        self.startsSession = startsSession
        input = toProgram.endOfWriter()
        output = fromProgram.endOfReader()
        // A program that does not read must not block the writer.
        _ = fcntl(input.rawValue, F_SETFL, O_NONBLOCK)
    }

    /// Starts the executable at a path, with an environment that is text.
    public init(
        executable: String, arguments: [String] = [], environment: [String], startsSession: Bool,
        inheritsErrors: Bool = false
    ) throws(SystemError) {
        try self.init(
            executable: executable, arguments: arguments, environment: environment.map { Array($0.utf8) },
            startsSession: startsSession, inheritsErrors: inheritsErrors)
    }

    /// Reads the next bytes.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    /// - Returns: the number of bytes; 0 after the program has closed its output.
    /// - Throws: `SystemError`: `ETIMEDOUT` at the deadline, `ECANCELED` after a cancellation.
    public borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: UInt64, cancellation: Cancellation
    ) throws(SystemError) -> Int {
        while true {
            try Self.wait(for: output, POLLIN, until: deadline, cancellation, "read the output of a program")
            let count = Glibc.read(output.rawValue, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else { throw .last("read the output of a program") }
        }
    }

    /// Writes all bytes.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    /// - Throws: `SystemError`: `EPIPE` if the program has closed its input, `ETIMEDOUT` at the
    ///   deadline, `ECANCELED` after a cancellation.
    public borrowing func write(
        _ bytes: UnsafeRawBufferPointer, until deadline: UInt64, cancellation: Cancellation
    ) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            try Self.wait(for: input, POLLOUT, until: deadline, cancellation, "write to a program")
            let written = try writeSome(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// Waits for the end of the program, after it has closed its output.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    /// - Returns: whether its exit value is 0; false also at the deadline.
    public borrowing func hasSucceeded(until deadline: UInt64) -> Bool {
        while BootClock.system.now() < deadline {
            var info = siginfo_t()
            // The program is reaped at the end of this value.
            let result = waitid(P_PID, id_t(bitPattern: process), &info, WEXITED | WNOHANG | WNOWAIT)
            if result != 0, errno != EINTR { return false }
            if result == 0, info.si_signo == SIGCHLD {
                return info.si_code == Int32(CLD_EXITED) && info._sifields._sigchld.si_status == 0
            }
            usleep(1000)
        }
        return false
    }

    deinit {
        ProcessEnding(process, hasSession: startsSession).end()
    }
}

// MARK: Starting and waiting

extension ConversationProcess {
    private static func start(
        _ words: [String], environment: [[UInt8]], input: Int32, output: Int32, error: Int32?, startsSession: Bool
    ) throws(SystemError) -> pid_t {
        try ChildProcess.spawn(
            words.map { Array($0.utf8) }, path: words.first, variables: environment, input: input, output: output,
            error: error,
            startsSession: startsSession)
    }

    /// Waits until the descriptor is ready, and checks the cancellation in intervals.
    private static func wait(
        for descriptor: borrowing OwnedDescriptor, _ event: Int32, until deadline: UInt64, _ cancellation: Cancellation,
        _ operation: String
    ) throws(SystemError) {
        while true {
            guard !cancellation.isCancelled else { throw SystemError(operation, code: ECANCELED) }
            let now = BootClock.system.now()
            guard now < deadline else { throw SystemError(operation, code: ETIMEDOUT) }
            let left = (deadline &- now) / 1_000_000 + 1
            var entry = pollfd(fd: descriptor.rawValue, events: Int16(truncatingIfNeeded: event), revents: 0)
            let count = poll(&entry, 1, min(Int32(clamping: left), cancellationInterval))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw .last(operation) }
        }
    }

    /// Writes as many bytes as the pipe takes now.
    private borrowing func writeSome(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let descriptor = input.rawValue
        return try PipeSignal.withoutSignal { () throws(SystemError) in
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else { throw .last("write to a program") }
            return 0
        }
    }

    /// In milliseconds.
    private static let cancellationInterval: Int32 = 50
}
