// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Reads an open file of the log line by line, up to the length that it had when it was opened.
final class AuditLineReader {
    /// The length of the complete lines that were read, in bytes.
    private(set) var length = 0

    private let path: String
    private let file: OwnedDescriptor
    /// The number of bytes of the file that are not read yet.
    private var unread: Int
    private var buffer: [UInt8] = []
    /// The index of the next line in the buffer.
    private var start = 0
    /// A line that was read and is not returned yet.
    private var peeked: AuditLine?
    /// The bytes of an unterminated line that were already returned in pieces.
    private var skipped = 0

    /// Opens the file at `path`; returns nil if it does not exist.
    static func open(_ path: String) throws(SystemError) -> AuditLineReader? {
        do throws(SystemError) {
            let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW)
            return try AuditLineReader(file, path)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    private init(_ file: consuming OwnedDescriptor, _ path: String) throws(SystemError) {
        unread = Int(clamping: try FileStatus.of(file, path: path).size)
        self.file = file
        self.path = path
    }

    /// Returns the first line without consuming it; nil if there is none.
    ///
    /// Call this only before the first line is read.
    func peek() throws(SystemError) -> AuditLine? {
        peeked = try next()
        return peeked
    }

    /// Returns the next complete line; nil at the end. A line above the maximum length is returned in pieces. None of
    /// them is a valid line of the log.
    func next() throws(SystemError) -> AuditLine? {
        if let line = peeked.take() { return line }
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = AuditLine(buffer[start..<end])
                length += skipped + end + 1 - start
                (skipped, start) = (0, end + 1)
                return line
            }
            buffer.removeFirst(start)
            start = 0
            if buffer.count > Self.maxLineLength {
                let piece = AuditLine(buffer)
                (skipped, buffer) = (skipped + buffer.count, [])
                return piece
            }
            let block = try file.read(upTo: min(Self.blockSize, unread), path: path)
            // The file may be truncated meanwhile.
            guard !block.isEmpty else { return nil }
            unread -= block.count
            buffer += block
        }
    }

    /// Whether bytes without a line break follow the last line. Valid after ``next()`` has returned
    /// nil.
    var hasPartialLine: Bool { start < buffer.count || skipped > 0 }

    /// In bytes. Lines of format version 1 held names of 4096 characters with six bytes each.
    private static let maxLineLength = 64 << 10
    private static let blockSize = 64 << 10
}
