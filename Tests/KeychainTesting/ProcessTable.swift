// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Glibc

/// The facts about a process that the kernel tells every user.
public enum ProcessTable {
    /// Whether a process runs. A process that has ended, and that its parent does not wait for, does not run.
    ///
    /// The first thread may end before the others, as after SIGKILL. The files and locks of the process are open until
    /// the last one has ended.
    public static func isRunning(_ process: pid_t) -> Bool {
        // The name of the program, in parentheses, may contain anything.
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .isoLatin1)) ?? ""
        guard let state = text.split(separator: ")").last else { return false }
        guard state.hasPrefix(" Z") || state.hasPrefix(" X") else { return true }
        return threads(of: process).count > 1
    }

    /// Returns the running children of a process. One that has ended and was not waited for is left
    /// out.
    public static func children(of parent: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            // The name of the program, in parentheses, may contain anything.
            let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .isoLatin1)) ?? ""
            let fields = text.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
            return fields.count > 1 && fields[0] != "Z" && pid_t(fields[1]) == parent
        }
    }

    /// Returns the numbers of the threads of a process; none if it has ended.
    public static func threads(of process: pid_t) -> Set<pid_t> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return Set(names.compactMap { pid_t($0) })
    }

    /// Returns how often each thread of a process has slept.
    public static func sleeps(of process: pid_t) -> [pid_t: Int] {
        let pairs = threads(of: process).map { thread in
            (thread, number("voluntary_ctxt_switches:", in: "/proc/\(process)/task/\(thread)/status"))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Returns the number of threads of a process; 0 if it has ended.
    public static func threadCount(of process: pid_t) -> Int { statusNumber("Threads:", of: process) }

    /// Returns the resident memory of a process in KiB; 0 if it has ended.
    public static func residentKiB(of process: pid_t) -> Int { statusNumber("VmRSS:", of: process) }

    /// Returns the number of open descriptors of a process; nil if this user may not know it.
    public static func descriptorCount(of process: pid_t) -> Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private static func statusNumber(_ name: String, of process: pid_t) -> Int {
        number(name, in: "/proc/\(process)/status")
    }

    private static func number(_ name: String, in path: String) -> Int {
        let text = (try? String(contentsOfFile: path, encoding: .isoLatin1)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } } ?? 0
    }
}
