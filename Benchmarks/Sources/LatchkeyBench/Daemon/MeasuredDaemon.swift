// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A process that is started for a measurement, and stopped with the last reference to it.
final class MeasuredProcess {
    let identifier: pid_t

    init(_ path: String, _ words: [String], environment: [String: String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        let arguments = ([path] + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child = pid_t()
        guard posix_spawn(&child, path, &actions, nil, arguments, variables) == 0 else {
            throw BenchmarkFailure("cannot start \(path)")
        }
        identifier = child
    }

    var residentKiB: Int {
        ProcFile.read("/proc/\(identifier)/status").flatMap { ProcFile.number(after: "VmRSS:", in: $0) } ?? 0
    }

    deinit {
        kill(identifier, SIGTERM)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }
}
