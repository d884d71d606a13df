// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// Runs a child process until it ends, with the terminal and the environment of this process.
public enum ChildProcess {
    /// How a program has ended.
    public struct Ending: Sendable {
        /// The exit value, or 128 plus the number of the signal that ended the program, as in shells.
        public let status: Int32
        /// Whether this process has received a signal meanwhile, and forwarded it.
        public let hasForwardedSignal: Bool
    }

    /// Runs a program, searched in PATH, and waits until it ends.
    ///
    /// During that time only the child reacts to Ctrl-C and Ctrl-\, and SIGTERM, SIGHUP, SIGUSR1
    /// and SIGUSR2 are forwarded to it. Afterwards this process handles all of them as before.
    ///
    /// - Parameters:
    ///   - words: its name and arguments, byte for byte.
    ///   - descriptor: the descriptor that the child inherits under the same number.
    ///   - variables: variables that are added to the environment.
    /// - Throws: `SystemError` with `ENOENT` if there is no such program.
    public static func runToEnd(
        _ words: [[UInt8]], inheriting descriptor: Int32? = nil, variables: [String: String] = [:]
    ) throws(SystemError) -> Ending {
        guard let program = words.first.map({ FilePath(bytes: $0) }) else {
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
        // Duplicating a descriptor to its own number clears close-on-exec
        // (posix_spawn_file_actions_adddup2(3p)).
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in ignored + forwarded { sigaddset(&defaults, number) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let arguments = Self.copies(of: words)
        let environment = Self.copies(of: Self.environment(with: variables))
        defer { for text in arguments + environment { free(text) } }
        let handled = handleSignals()
        defer { for (number, action) in handled { restore(action, of: number) } }
        ProcessHardening.restoreCoreLimit()
        var child = pid_t()
        let status = program.withCString {
            posix_spawnp(&child, $0, &actions, &attributes, arguments, environment)
        }
        guard status == 0 else { throw SystemError("run", path: program, code: status) }
        return wait(for: child)
    }

    /// Runs a program as ``runToEnd(_:inheriting:variables:)``, and returns only its status.
    public static func run(
        _ words: [[UInt8]], inheriting descriptor: Int32? = nil, variables: [String: String] = [:]
    ) throws(SystemError) -> Int32 {
        try runToEnd(words, inheriting: descriptor, variables: variables).status
    }

    /// Runs a program with text as its arguments.
    public static func run(
        _ words: [String], inheriting descriptor: Int32? = nil, variables: [String: String] = [:]
    ) throws(SystemError) -> Int32 {
        try run(words.map { Array($0.utf8) }, inheriting: descriptor, variables: variables)
    }

    /// Starts a program that goes on after this process, and waits until it writes a byte to a pipe, or
    /// ends.
    ///
    /// - Parameters:
    ///   - words: its name and arguments, byte for byte.
    ///   - path: the file of the program.
    ///   - readyOption: the option that gets the number of the pipe's descriptor.
    ///   - closesOthers: whether the program inherits only the standard streams and the pipe. A program
    ///     that waits for the end of another pipe would wait for the one in the background, too.
    /// - Returns: whether the program is ready, and its exit value if it has ended.
    public static func startInBackground(
        _ words: [[UInt8]], at path: String, readyOption: String, closesOthers: Bool
    ) throws(SystemError) -> (isReady: Bool, status: Int32) {
        var (reading, writing): (Int32, Int32) = (0, 0)
        guard latchkey_pipe(&reading, &writing) == 0 else { throw .last("create a pipe") }
        let ready = OwnedDescriptor(adopting: reading)
        let child: pid_t
        do {
            let other = OwnedDescriptor(adopting: writing)
            let number = closesOthers ? STDERR_FILENO + 1 : other.rawValue
            child = try spawn(
                path, words + [Array(readyOption.utf8), Array("\(number)".utf8)], inheriting: other.rawValue,
                as: number,
                closesOthers: closesOthers)
        }
        if try ready.read(upTo: 1, path: "pipe").count == 1 { return (true, 0) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return (false, exitValue(ofStatus: status))
    }

    private static func spawn(
        _ path: String, _ words: [[UInt8]], inheriting descriptor: Int32, as number: Int32, closesOthers: Bool
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        if closesOthers { latchkey_close_from(&actions, number + 1) }
        let arguments = copies(of: words)
        defer { for text in arguments { free(text) } }
        var child = pid_t()
        let status = posix_spawn(&child, path, &actions, nil, arguments, environ)
        guard status == 0 else { throw SystemError("run", path: path, code: status) }
        return child
    }

    /// Lets only a child react to signals from now on.
    ///
    /// - Returns: how this process has handled them.
    private static func handleSignals() -> [(number: Int32, action: sigaction)] {
        (current, received) = (0, 0)
        let before = (ignored + forwarded).map { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            return (number, action)
        }
        for number in ignored { signal(number, SIG_IGN) }
        for number in forwarded {
            signal(number) { number in
                ChildProcess.received = number
                // kill(2) is async-signal-safe (signal-safety(7)).
                if ChildProcess.current > 0 { kill(ChildProcess.current, number) }
            }
        }
        // The program that has started this one may have blocked them.
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        for number in forwarded { sigaddset(&unblocked, number) }
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
        return before
    }

    private static func restore(_ action: sigaction, of number: Int32) {
        var action = action
        sigaction(number, &action, nil)
    }

    private static func wait(for child: pid_t) -> Ending {
        current = child
        // One that came while the child was started.
        if received != 0 { kill(child, received) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        current = 0
        return Ending(status: exitValue(ofStatus: status), hasForwardedSignal: received != 0)
    }

    /// Returns the exit value in a status of waitpid(2), or 128 plus the number of the signal.
    static func exitValue(ofStatus status: Int32) -> Int32 {
        let ending = status & 0x7F
        return ending == 0 ? (status >> 8) & 0xFF : 128 + ending
    }

    /// Returns the environment of this process with these variables, as `NAME=value`, byte for byte.
    package static func environment(with variables: [String: String]) -> [[UInt8]] {
        var all: [[UInt8]] = []
        var next = environ
        while let entry = next.pointee {
            let bytes = FilePath(cString: entry).bytes
            let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            if variables[name] == nil { all.append(bytes) }
            next = next.advanced(by: 1)
        }
        return all + variables.map { Array("\($0.key)=\($0.value)".utf8) }
    }

    /// Returns copies for a list of the C library, with its end. The caller frees them.
    static func copies(of words: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { FilePath(bytes: $0).withCString { strdup($0) } } + [nil]
    }

    // because a signal handler has no context. It is one word, and written by one thread: a command runs one
    // child.
    nonisolated(unsafe) private static var current: pid_t = 0
    // because a signal handler has no context. It is one word, written by the handler.
    nonisolated(unsafe) private static var received: Int32 = 0
    private static let ignored = [SIGINT, SIGQUIT]
    private static let forwarded = [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]
}
