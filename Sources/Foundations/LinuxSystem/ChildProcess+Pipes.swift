// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// Programs with pipes for their standard input or output, so that a secret is neither in their arguments nor in their
/// environment.
extension ChildProcess {
    /// Runs a program, searched in PATH, with `input` as its standard input, and waits until it ends. Its output is
    /// discarded, because a program that continues in the background would keep a pipe open.
    ///
    /// - Returns: the exit value, or 128 plus the number of the signal that ended the program.
    /// - Throws: `SystemError` with `ENOENT` if there is no such program.
    public static func run(_ words: [String], input: UnsafeRawBufferPointer) throws(SystemError) -> Int32 {
        try run(words.map { Array($0.utf8) }, input: input)
    }

    /// Runs a program with arguments that need not be UTF-8.
    public static func run(_ words: [[UInt8]], input: UnsafeRawBufferPointer) throws(SystemError) -> Int32 {
        let ends = try Pipe()
        let child = try spawn(words, input: ends.reading.rawValue, output: nil)
        let failure: SystemError?
        do throws(SystemError) {
            let writer = ends.endOfWriter()
            try send(input, to: writer)
            failure = nil
        } catch {
            failure = error
        }
        let status = exitValue(of: child)
        // A program that has failed may not have read its input; its exit value is the reason.
        if let failure, status == 0 { throw failure }
        return status
    }

    /// Runs a program, searched in PATH, without input, and reads its standard output.
    ///
    /// - Parameters:
    ///   - buffer: gets the output. Output that does not fit is not read.
    ///   - timeout: the maximum time of the whole call in milliseconds. The program is then ended.
    /// - Returns: the exit value as of ``run(_:input:)``, and the number of bytes read.
    /// - Throws: `SystemError`: `ENOENT` if there is no such program, `ETIMEDOUT` after the timeout.
    public static func run(
        _ words: [String], readingInto buffer: UnsafeMutableRawBufferPointer, timeout: Int32
    ) throws(SystemError) -> (status: Int32, count: Int) {
        let end = BootClock.system.now() &+ UInt64(clamping: timeout) &* 1_000_000
        let ends = try Pipe()
        let child = try spawn(words.map { Array($0.utf8) }, input: nil, output: ends.writing.rawValue)
        do throws(SystemError) {
            let count = try read(ends.endOfReader(), into: buffer, until: end)
            return (try exitValue(of: child, until: end), count)
        } catch {
            kill(child, SIGKILL)
            _ = exitValue(of: child)
            throw error
        }
    }

    /// Runs an executable with a short input, and reads its standard output.
    ///
    /// - Parameters:
    ///   - environment: the whole environment, as `NAME=value`.
    ///   - input: at most 4 KiB; a pipe holds these without a reader.
    ///   - buffer: gets the output. Output that does not fit is not read.
    ///   - timeout: the maximum time of the whole call in milliseconds. The program is then ended.
    /// - Returns: the exit value as of ``run(_:input:)``, and the number of bytes read.
    /// - Throws: `SystemError`: `ENOENT` if there is no such program, `ETIMEDOUT` after the timeout.
    public static func run(
        _ executable: String, _ arguments: [String], environment: [String], input: UnsafeRawBufferPointer,
        readingInto buffer: UnsafeMutableRawBufferPointer, timeout: Int32
    ) throws(SystemError) -> (status: Int32, count: Int) {
        guard input.count <= 4096 else { throw SystemError("write to a program", path: executable, code: EMSGSIZE) }
        let end = BootClock.system.now() &+ UInt64(clamping: timeout) &* 1_000_000
        let sending = try Pipe()
        let receiving = try Pipe()
        let child = try spawn(
            ([executable] + arguments).map { Array($0.utf8) }, path: executable,
            variables: environment.map { Array($0.utf8) }, input: sending.reading.rawValue,
            output: receiving.writing.rawValue)
        do throws(SystemError) {
            try write(input, to: sending.endOfWriter())
            let count = try read(receiving.endOfReader(), into: buffer, until: end)
            return (try exitValue(of: child, until: end), count)
        } catch {
            kill(child, SIGKILL)
            _ = exitValue(of: child)
            throw error
        }
    }

    /// Writes all bytes, and closes the descriptor. A program that does not read them says so by its
    /// exit value.
    private static func write(
        _ input: UnsafeRawBufferPointer, to writer: consuming OwnedDescriptor
    ) throws(SystemError) {
        do throws(SystemError) {
            try send(input, to: writer)
        } catch {
            guard error.code == EPIPE else { throw error }
        }
    }

    /// Starts an executable in a session of its own, so that it continues after this process and
    /// its terminal have ended.
    ///
    /// - Parameters:
    ///   - executable: the path of the executable.
    ///   - words: its arguments, its name first.
    ///   - output: the descriptor that becomes its standard output; nil for none. It has no
    ///     standard error.
    /// - Returns: the descriptor for its standard input; see ``send(_:to:)``.
    public static func startInBackground(_ executable: String, _ words: [String], output: Int32?)
        throws(SystemError) -> OwnedDescriptor
    {
        let ends = try Pipe()
        _ = try spawn(
            words.map { Array($0.utf8) }, path: executable, input: ends.reading.rawValue, output: output,
            startsSession: true)
        return ends.endOfWriter()
    }

    // MARK: Processes

    /// Starts a program with the default handling of all signals.
    ///
    /// - Parameters:
    ///   - path: the path of the executable; nil to search the first word in PATH.
    ///   - variables: the environment as `NAME=value`; nil for that of this process.
    ///   - input, output, error: nil for none.
    static func spawn(
        _ words: [[UInt8]], path: String? = nil, variables given: [[UInt8]]? = nil, input: Int32?, output: Int32?,
        error: Int32? = nil, startsSession: Bool = false
    ) throws(SystemError) -> pid_t {
        guard let program = path.map({ FilePath($0) }) ?? words.first.map({ FilePath(bytes: $0) }) else {
            throw SystemError("run a program without a name", code: EINVAL)
        }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, source) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, error)] {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        var defaults = sigset_t()
        sigfillset(&defaults)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        let session = startsSession ? Self.newSession : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | session)

        let arguments = copies(of: words)
        let variables = copies(of: given ?? environment(with: [:]))
        defer { for text in arguments + variables { free(text) } }
        var child = pid_t()
        let status = program.withCString { program in
            path == nil
                ? posix_spawnp(&child, program, &actions, &attributes, arguments, variables)
                : posix_spawn(&child, program, &actions, &attributes, arguments, variables)
        }
        guard status == 0 else { throw SystemError("run", path: program, code: status) }
        return child
    }

    /// - Parameter end: by `BootClock`.
    /// - Throws: `ETIMEDOUT` if the program does not end before.
    private static func exitValue(of child: pid_t, until end: UInt64) throws(SystemError) -> Int32 {
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return exitValue(ofStatus: status) }
            if ended < 0, errno != EINTR { throw .last("wait for a program") }
            guard BootClock.system.now() < end else { throw SystemError("wait for a program", code: ETIMEDOUT) }
            usleep(2000)
        }
    }

    private static func exitValue(of child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return exitValue(ofStatus: status)
    }

    /// Writes to the standard input of a program. The program ends when the descriptor is closed.
    ///
    /// - Throws: `EPIPE` if the program does not read its input.
    public static func send(_ bytes: UnsafeRawBufferPointer, to input: borrowing OwnedDescriptor) throws(SystemError) {
        try PipeSignal.withoutSignal { () throws(SystemError) in
            try input.write(bytes, path: "to the input of a program")
        }
    }

    /// Reads until the end or until the buffer is full, and closes the descriptor.
    ///
    /// - Parameter end: by `BootClock`.
    /// - Throws: `ETIMEDOUT` if the output does not end before.
    private static func read(
        _ output: consuming OwnedDescriptor, into buffer: UnsafeMutableRawBufferPointer, until end: UInt64
    ) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            var entry = pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0)
            let now = BootClock.system.now()
            let left = now < end ? Int32(clamping: (end - now) / 1_000_000 + 1) : 0
            let ready = poll(&entry, 1, left)
            if ready < 0 {
                if errno == EINTR { continue }
                throw .last("wait for the output of a program")
            }
            guard ready > 0, left > 0 else { throw SystemError("read the output of a program", code: ETIMEDOUT) }
            let got = Glibc.read(output.rawValue, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            if got < 0 {
                if errno == EINTR { continue }
                throw .last("read the output of a program")
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    /// POSIX_SPAWN_SETSID of spawn.h. The Glibc module does not export it everywhere.
    static let newSession: Int16 = 0x80
}
