// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs a program, and collects its output and exit status.
enum ChildProcess {
    struct Outcome {
        var output: String
        /// The exit status; 128 plus the signal number if a signal ended the process.
        var exitValue: Int32
        /// From before its start until it has been waited for.
        var nanoseconds: UInt64
    }

    /// Runs the program at `path`.
    ///
    /// - Parameters:
    ///   - words: the command line; the first word is the program's name.
    ///   - environment: the complete environment, `NAME=value`.
    static func run(_ path: String, _ words: [String], environment: [String]) throws -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkFailure("cannot create a pipe for \(path): \(message(errno))") }
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, reading)
        posix_spawn_file_actions_addclose(&actions, writing)
        let (outcome, nanoseconds) = try withCStrings(words) { arguments in
            try withCStrings(environment) { variables in
                try Stopwatch.time { () throws -> (String, Int32) in
                    var child: pid_t = 0
                    let code = posix_spawn(&child, path, &actions, nil, arguments, variables)
                    close(writing)
                    guard code == 0 else { throw BenchmarkFailure("cannot start \(path): \(message(code))") }
                    return (readAll(reading), wait(for: child))
                }
            }
        }
        return Outcome(output: outcome.0, exitValue: outcome.1, nanoseconds: nanoseconds)
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var all: [UInt8] = []
        let capacity = 4096
        var buffer = [UInt8](repeating: 0, count: capacity)
        while true {
            let count = read(descriptor, &buffer, capacity)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer[..<count]
        }
    }

    private static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Lends the strings as a C array of pointers with a null at the end.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
    ) rethrows -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return try body(copies + [nil])
    }

    private static func message(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}
