// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// One file of the log: lines that are appended, and read in order.
final class AuditFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the file for appending, and makes it where it is missing.
    init(appendingTo path: String) throws(SystemError) {
        self.path = path
        let opened = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
        descriptor = opened.release()
    }

    deinit { close(descriptor) }

    /// Appends lines in one write, so that a kill leaves them whole or not there at all.
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

    /// Cuts what a full disk or a power failure has left of a line.
    func cut(to length: Int) throws(SystemError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .last("cut", path: path) }
    }

    var size: Int {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? Int(info.st_size) : 0
    }

    // MARK: Reading

    /// Calls `body` with every complete line; it answers false to stop. A line that is longer than any is passed on in pieces, none of which is a
    /// line of the log.
    ///
    /// - Returns: the length of the complete lines, in bytes, and whether more follows them without an end of line.
    @discardableResult
    static func read(_ path: String, _ body: (AuditLine) -> Bool) throws(SystemError) -> (length: Int, hasRest: Bool) {
        guard try FileStatus.ofLink(path) != nil else { return (0, false) }
        let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW)
        var (rest, length, skipped): ([UInt8], Int, Int) = ([], 0, 0)
        while true {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let got = Glibc.read(file.rawValue, &piece, piece.count)
            guard got >= 0 else { throw .last("read", path: path) }
            if got == 0 { return (length, !rest.isEmpty || skipped > 0) }
            rest += piece.prefix(got)
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard body(AuditLine(rest[start..<end])) else { return (length, false) }
                length += skipped + end + 1 - start
                skipped = 0
                start = end + 1
            }
            rest.removeFirst(start)
            if rest.count > maxLineLength {
                guard body(AuditLine(rest)) else { return (length, false) }
                (skipped, rest) = (skipped + rest.count, [])
            }
        }
    }

    /// In bytes. Lines of the first version held names of 4096 characters, six bytes each.
    private static let maxLineLength = 64 << 10
}
