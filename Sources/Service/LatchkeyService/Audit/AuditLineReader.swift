// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Reads an open file of the log line by line, as far as it reached when it was opened.
final class AuditLineReader {
    /// The length of the complete lines that were read, in bytes.
    private(set) var length = 0

    private let path: String
    private let file: OwnedDescriptor
    /// The bytes of the file that are still to be read.
    private var unread: Int
    private var buffer: [UInt8] = []
    /// Where the next line begins in the buffer.
    private var start = 0
    /// A line that was read, and not given yet.
    private var peeked: AuditLine?
    /// The bytes of a line without an end that were passed on in pieces.
    private var skipped = 0

    /// Opens the file at `path`; nil where there is none.
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

    /// The first line, which stays to be read; nil where there is none.
    ///
    /// Call it before anything was read.
    func peek() throws(SystemError) -> AuditLine? {
        peeked = try next()
        return peeked
    }

    /// The next complete line; nil at the end. A line that is longer than any is passed on in pieces, none of which is a line of the log.
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
            // A file that is cut meanwhile ends early.
            guard !block.isEmpty else { return nil }
            unread -= block.count
            buffer += block
        }
    }

    /// Whether bytes without an end of line follow the last line, once there is no next one.
    var hasPartialLine: Bool { start < buffer.count || skipped > 0 }

    /// In bytes. Lines of the first version held names of 4096 characters, six bytes each.
    private static let maxLineLength = 64 << 10
    private static let blockSize = 64 << 10
}
