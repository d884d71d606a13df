// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Glibc

/// Whether idle processes sleep: the kernel counts how often each of their threads does.
public enum Rest {
    /// Waits until no thread of any of the processes wakes while another process wakes ``wakes``
    /// times. What follows a request by seconds may end before.
    ///
    /// - Parameter limit: the timeout in seconds.
    /// - Returns: the process that does not come to rest, and its threads that have woken; nil if all
    ///   processes sleep.
    public static func restless(
        _ processes: [String: pid_t], in directory: TemporaryDirectory, limit: Double = 250
    ) throws -> String? {
        // It ends by itself, also if it is not stopped.
        let script = "for number in $(seq 2000); do sleep 0.25; done"
        let pulse = try SpawnedProcess(
            ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/pulse")
        defer { pulse.stop(signal: SIGKILL) }
        func pulses() -> Int { ProcessTable.sleeps(of: pulse.processIdentifier).values.reduce(0, +) }
        var found: String?
        let isAtRest = eventually(limit: limit) {
            let before = processes.mapValues(ProcessTable.sleeps)
            let begin = pulses()
            _ = eventually { pulses() >= begin + wakes || !pulse.isRunning }
            found = processes.keys.sorted().first { name in
                processes[name].map { ProcessTable.sleeps(of: $0) } != before[name] || before[name]?.isEmpty != false
            }
            return found == nil
        }
        guard !isAtRest, let found, let process = processes[found] else { return nil }
        return "\(found): \(threads(of: process))"
    }

    /// The threads of a process: the system call in which each one is, and how often it has slept.
    private static func threads(of process: pid_t) -> [String] {
        ProcessTable.sleeps(of: process).sorted { $0.key < $1.key }.map { thread, count in
            func text(_ file: String) -> String {
                let path = "/proc/\(process)/task/\(thread)/\(file)"
                return ((try? String(contentsOfFile: path, encoding: .isoLatin1)) ?? "")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
            }
            return "\(text("comm")), call \(text("syscall").prefix(20)), \(count)"
        }
    }

    /// Four a second, so that what happens every ten seconds is seen.
    private static let wakes = 46
}
