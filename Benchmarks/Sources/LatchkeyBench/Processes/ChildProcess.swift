// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program that is started, listened to and waited for.
enum ChildProcess {
    struct Outcome {
        var output: String
        /// The exit value; 128 and the signal's number where one ended it.
        var exitValue: Int32
        /// From before its start until it is gone.
        var nanoseconds: UInt64
    }

    /// Runs the program at `path`.
    ///
    /// - Parameters:
    ///   - words: its command line; the first word is the name it is called by.
    ///   - environment: all of its environment, `NAME=value`.
    static func run(_ path: String, _ words: [String], environment: [String]) throws -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkFailure("no pipe for \(path): \(message(errno))") }
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
                    guard code == 0 else { throw BenchmarkFailure("\(path) does not start: \(message(code))") }
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

    /// Lends the strings as C wants a list of them: pointers with a null at the end.
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
