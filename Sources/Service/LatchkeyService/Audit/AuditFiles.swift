// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The files of the log by age: 0 is `audit.log`, the current file; 1 is `audit.log.1`, the file before it; and so on.
struct AuditFiles: Sendable {
    let directory: PrivateDirectory
    /// The maximum number of files beside the current one.
    let maxCount: Int

    func path(ofAge age: Int) -> String {
        directory.appending(age == 0 ? Self.name : "\(Self.name).\(age)")
    }

    /// Returns the age of the oldest file; 0 if there is only the current one.
    func count() throws(SystemError) -> Int {
        var age = maxCount
        while age > 0, try !exists(age) { age -= 1 }
        return age
    }

    private func exists(_ age: Int) throws(SystemError) -> Bool { try FileStatus.ofLink(path(ofAge: age)) != nil }

    /// Returns the length of a file, in bytes; 0 if it does not exist.
    func length(ofAge age: Int) throws(SystemError) -> Int {
        try FileStatus.ofLink(path(ofAge: age)).map { Int(clamping: $0.size) } ?? 0
    }

    // MARK: Changing

    /// Renames each file to the next age, and removes the oldest files. If an earlier call was
    /// interrupted, this call completes it.
    ///
    /// - Parameter kept: the number of files to keep beside the new one; at least 1.
    func rotate(keeping kept: Int) throws(SystemError) {
        guard try exists(0) else { return }
        let (kept, before) = (max(1, kept), try count())
        // Files above the first unused age were renamed before the interruption.
        var free = 1
        while free <= before, try exists(free) { free += 1 }
        for age in stride(from: min(kept, free), through: 1, by: -1) {
            guard rename(path(ofAge: age - 1), path(ofAge: age)) == 0 else {
                throw .last("rename", path: path(ofAge: age - 1))
            }
        }
        // Remove the oldest first, so that an interruption leaves consecutive files.
        for age in stride(from: before, to: kept, by: -1) { unlink(path(ofAge: age)) }
        try directory.synchronize()
    }

    /// Replaces the lines of a file that is no longer written, atomically.
    func replace(ofAge age: Int, by lines: [UInt8]) throws(SystemError) {
        let name = age == 0 ? Self.name : "\(Self.name).\(age)"
        try PrivateFile.replace(name, in: directory, content: lines)
    }

    static let name = "audit.log"
}
