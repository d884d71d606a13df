// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The mounts of this machine (proc(5), mounts).
enum MountTable {
    /// Returns the mount points at and below a path, the last one first.
    static func points(below path: String) -> [String] {
        let lines = (ProcFile.read("/proc/self/mounts") ?? "").split(separator: "\n")
        let points = lines.compactMap { line -> String? in
            let fields = line.split(separator: " ")
            guard fields.count > 1 else { return nil }
            let point = fields[1].replacingOccurrences(of: "\\040", with: " ")
            return point == path || point.hasPrefix("\(path)/") ? point : nil
        }
        return points.reversed()
    }

    /// Detaches the file systems at and below a path, also if programs still use them.
    static func detach(below path: String) {
        for point in points(below: path) {
            let outcome = try? ChildProcess.run(
                "/bin/sh", ["sh", "-c", "umount -l \"$1\" 2> /dev/null || fusermount3 -uz \"$1\"", "sh", point],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
            if outcome?.exitValue != 0 { ProgressLine.say("cannot unmount \(point)") }
        }
    }
}
