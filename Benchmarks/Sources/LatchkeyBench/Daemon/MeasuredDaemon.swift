// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A process that is started for a measurement, and stopped with the last reference to it.
final class MeasuredProcess {
    let identifier: pid_t
    /// The exit status, once the process has been waited for.
    private var ending: Int32?

    /// Starts the program at `path`, with its output thrown away.
    ///
    /// - Parameter input: a file that becomes the standard input; nil for that of this process.
    init(_ path: String, _ words: [String], environment: [String: String], input: String? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        // This process may ignore or block them (TemporaryDirectory), and the other would, too.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let arguments = ([path] + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child = pid_t()
        guard posix_spawn(&child, path, &actions, &attributes, arguments, variables) == 0 else {
            throw BenchmarkFailure("cannot start \(path)")
        }
        identifier = child
    }

    var residentKiB: Int { memory("VmRSS:") }

    /// The largest resident memory until now; 0 after the end.
    var peakKiB: Int { memory("VmHWM:") }

    private func memory(_ name: String) -> Int {
        ProcFile.read("/proc/\(identifier)/status").flatMap { ProcFile.number(after: name, in: $0) } ?? 0
    }

    /// Returns the exit status, or 128 plus the number of the signal that ended the process; nil while it
    /// runs.
    func exitValue(waits: Bool) -> Int32? {
        if let ending { return ending }
        var status: Int32 = 0
        var found: pid_t = 0
        repeat {
            found = waitpid(identifier, &status, waits ? 0 : WNOHANG)
        } while found < 0 && errno == EINTR
        guard found == identifier else { return nil }
        let signal = status & 0x7F
        ending = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        return ending
    }

    deinit {
        guard exitValue(waits: false) == nil else { return }
        kill(identifier, SIGTERM)
        _ = exitValue(waits: true)
    }
}
