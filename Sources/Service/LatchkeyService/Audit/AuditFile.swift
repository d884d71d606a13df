// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// One file of the log: lines are appended, and read in order.
final class AuditFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the file for appending, and creates it if it does not exist.
    init(appendingTo path: String) throws(SystemError) {
        self.path = path
        let opened = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
        descriptor = opened.release()
    }

    deinit { close(descriptor) }

    /// Appends lines with one write, so that a process that is killed leaves either all of their
    /// bytes or none.
    func append(_ lines: [UInt8]) throws(SystemError) {
        let written = lines.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == lines.count else {
            throw written < 0 ? .last("write", path: path) : SystemError("write", path: path, code: ENOSPC)
        }
    }

    /// Returns once every line is on the medium.
    func synchronize() throws(SystemError) {
        guard fdatasync(descriptor) == 0 else { throw .last("synchronise", path: path) }
    }

    /// Truncates the file, to remove a partial line that a full disk or a power failure has left.
    func cut(to length: Int) throws(SystemError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .last("truncate", path: path) }
    }

    var size: Int {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? Int(info.st_size) : 0
    }

    // MARK: Reading

    /// Calls `body` with every complete line; `body` returns false to stop.
    ///
    /// - Returns: the length of the complete lines, in bytes, and whether an incomplete line
    ///   follows them.
    @discardableResult
    static func read(_ path: String, _ body: (AuditLine) -> Bool) throws(SystemError) -> (
        length: Int, hasPartialLine: Bool
    ) {
        guard let reader = try AuditLineReader.open(path) else { return (0, false) }
        while let line = try reader.next() {
            guard body(line) else { return (reader.length, false) }
        }
        return (reader.length, reader.hasPartialLine)
    }
}
