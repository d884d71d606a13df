// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The files of the log by their age: 0 is `audit.log`, which is written, 1 is `audit.log.1`, which came before it, and so on.
struct AuditFiles: Sendable {
    let directory: PrivateDirectory
    /// How many files there may be beside the one that is written.
    let maxCount: Int

    func path(ofAge age: Int) -> String {
        directory.appending(age == 0 ? Self.name : "\(Self.name).\(age)")
    }

    /// The age of the oldest file; 0 where there is none beside the one that is written.
    func count() throws(SystemError) -> Int {
        var age = maxCount
        while age > 0, try !exists(age) { age -= 1 }
        return age
    }

    private func exists(_ age: Int) throws(SystemError) -> Bool { try FileStatus.ofLink(path(ofAge: age)) != nil }

    /// The length of a file, in bytes; 0 where there is none.
    func length(ofAge age: Int) throws(SystemError) -> Int {
        try FileStatus.ofLink(path(ofAge: age)).map { Int(clamping: $0.size) } ?? 0
    }

    // MARK: Changing

    /// Puts the file that was written aside, and removes the oldest. A second call completes what a first one, or a kill, has left half done.
    ///
    /// - Parameter kept: how many files there are afterwards beside the one that will be written; at least 1.
    func rotate(keeping kept: Int) throws(SystemError) {
        guard try exists(0) else { return }
        let (kept, before) = (max(1, kept), try count())
        // Files behind a free place have moved already.
        var free = 1
        while free <= before, try exists(free) { free += 1 }
        for age in stride(from: min(kept, free), through: 1, by: -1) {
            guard rename(path(ofAge: age - 1), path(ofAge: age)) == 0 else {
                throw .last("put aside", path: path(ofAge: age - 1))
            }
        }
        // The oldest first, so that those that are left by a kill still follow each other.
        for age in stride(from: before, to: kept, by: -1) { unlink(path(ofAge: age)) }
        try directory.synchronize()
    }

    /// Replaces the lines of a file that is no longer written, in one step.
    func replace(ofAge age: Int, by lines: [UInt8]) throws(SystemError) {
        let name = age == 0 ? Self.name : "\(Self.name).\(age)"
        try PrivateFile.replace(name, in: directory, content: lines)
    }

    static let name = "audit.log"
}
