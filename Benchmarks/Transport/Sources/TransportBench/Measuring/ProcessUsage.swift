// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The resources that this process uses now.
struct ProcessUsage: Sendable {
    let residentKiB: Int
    let threads: Int
    let descriptors: Int

    static func current() throws -> ProcessUsage {
        let text = try status()
        func value(_ name: String) throws -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            guard let word = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first,
                let value = Int(word)
            else { throw BenchmarkFailure("/proc/self/status has no \(name)") }
            return value
        }
        return ProcessUsage(
            residentKiB: try value("VmRSS"), threads: try value("Threads"), descriptors: try openDescriptors())
    }

    /// User and system time of all threads, in seconds.
    static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func status() throws -> String {
        let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkFailure("cannot open /proc/self/status") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func openDescriptors() throws -> Int {
        guard let directory = opendir("/proc/self/fd") else { throw BenchmarkFailure("cannot open /proc/self/fd") }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the directory itself.
        return count - 3
    }
}
