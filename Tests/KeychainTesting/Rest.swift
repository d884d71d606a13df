// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Glibc

/// Whether idle processes sleep: the kernel counts how often each of their threads does.
public enum Rest {
    /// The process and threads that have woken, or the reason why nothing was measured.
    struct Restless: Error, CustomStringConvertible {
        let description: String
    }

    /// Waits until no thread of any of the processes wakes, as ``restless(_:in:limit:pulse:)`` does.
    public static func requireSleep(_ processes: [String: pid_t], in directory: TemporaryDirectory) throws {
        if let found = try restless(processes, in: directory) { throw Restless(description: found) }
    }

    /// Waits until no thread of any of the processes wakes while another process wakes ``wakes`` times. Work that
    /// follows a request by seconds may end before.
    ///
    /// - Parameters:
    ///   - limit: the timeout in seconds.
    ///   - pulse: the script of the other process. It ends by itself, also if it is not stopped.
    /// - Returns: the process that does not come to rest, and its threads that have woken, or the reason why
    ///   nothing was measured; nil if all processes sleep.
    public static func restless(
        _ processes: [String: pid_t], in directory: TemporaryDirectory, limit: Double = 250,
        pulse script: String = "for number in $(seq 2000); do sleep 0.25; done"
    ) throws -> String? {
        let pulse = try SpawnedProcess(
            ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/pulse")
        defer { pulse.stop(signal: SIGKILL) }
        func pulses() -> Int { ProcessTable.sleeps(of: pulse.processIdentifier).values.reduce(0, +) }
        var found: String?
        var isPulsing = true
        let isAtRest = eventually(limit: limit) {
            let before = processes.mapValues(ProcessTable.sleeps)
            let begin = pulses()
            // Without the pulses, two pictures of one moment would be compared.
            guard eventually({ pulses() >= begin + wakes || !pulse.isRunning }), pulse.isRunning else {
                isPulsing = false
                return true
            }
            found = processes.keys.sorted().first { name in
                processes[name].map { ProcessTable.sleeps(of: $0) } != before[name] || before[name]?.isEmpty != false
            }
            return found == nil
        }
        guard isPulsing else { return "nothing was measured: the other process has not woken often enough" }
        guard !isAtRest else { return nil }
        guard let found, let process = processes[found] else { return "nothing was measured within the limit" }
        return "\(found): \(threads(of: process))"
    }

    /// The threads of a process: the current system call of each thread, and how often it has slept.
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

    /// With four wakes a second, an event that happens every ten seconds is seen.
    private static let wakes = 46
}
