// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The machine that was measured. Only ratios can be compared between machines, not absolute
/// figures.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var kernel: String
    var sqlite: String
    /// The file system of the databases. On tmpfs a durable write costs nothing, so the figures of
    /// writes are not meaningful.
    var fileSystem: String
    var isDebugBuild: Bool
    /// The load average of one minute.
    var loadAtStart: String
    var loadAtEnd: String

    /// Describes this machine, with the databases in `path`.
    static func current(storing path: String) -> Machine {
        let processor = ProcFile.read("/proc/cpuinfo").flatMap { ProcFile.value(after: "model name", in: $0) }
        let kernel = ProcFile.read("/proc/sys/kernel/osrelease")?.split(separator: "\n").first.map(String.init)
        return Machine(
            processor: processor ?? "unknown processor", cores: ProcessInfo.processInfo.activeProcessorCount,
            kernel: kernel ?? "unknown", sqlite: SQLiteConnection.version,
            fileSystem: fileSystem(of: path) ?? "unknown",
            isDebugBuild: wasBuiltForDebugging, loadAtStart: load, loadAtEnd: load)
    }

    static var load: String {
        ProcFile.read("/proc/loadavg")?.split(separator: " ").first.map(String.init) ?? "unknown"
    }

    /// The file system type of the path's mount: the last one with the longest matching mount point
    /// (proc(5), mounts).
    private static func fileSystem(of path: String) -> String? {
        guard let mounts = ProcFile.read("/proc/self/mounts") else { return nil }
        var best: (point: Substring, type: Substring)?
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let (point, type) = (fields[1], fields[2])
            guard point == "/" || path == point || path.hasPrefix("\(point)/"), point.count >= best?.point.count ?? 0
            else { continue }
            best = (point, type)
        }
        return best.map { String($0.type) }
    }

    private static var wasBuiltForDebugging: Bool {
        #if DEBUG
            return true
        #else
            return false
        #endif
    }
}
