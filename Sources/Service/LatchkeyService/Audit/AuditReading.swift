// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

/// The lines of a log at one point in time, returned in parts. Later writes, rotations and removals
/// do not affect it.
public final class AuditReading: @unchecked Sendable {  // because one thread at a time uses it
    /// Some lines, in order.
    public struct Part: Sendable {
        public var lines: [String]
        /// Whether no other part follows.
        public var isLast: Bool
    }

    /// The number of the last line at that time.
    public let last: UInt64

    private let after: UInt64
    private let since: Double?
    /// The files that are not read to the end, the next one last. They are kept open, so that a
    /// rename does not matter.
    private(set) var files: [AuditLineReader]
    private var hasBegun = false

    /// Opens every file of the log. The caller must prevent rotation meanwhile.
    ///
    /// - Parameters:
    ///   - after: the number before the first requested line.
    ///   - since: seconds since 1970; nil for any time.
    ///   - last: the number of the last line that was written.
    init(_ files: AuditFiles, after: UInt64, since: Double?, last: UInt64) throws(SystemError) {
        var opened: [AuditLineReader] = []
        for age in 0...(try files.count()) {
            if let file = try AuditLineReader.open(files.path(ofAge: age)) { opened.append(file) }
        }
        self.files = opened
        (self.after, self.since, self.last) = (after, since, last)
    }

    /// Returns the next requested lines, about `length` bytes of them, or fewer if the maximum for
    /// one part was read. A part may have no lines although others follow.
    ///
    /// - Throws: errSecNotAvailable if the operation of this thread was cancelled; errSecIO and
    ///   others if a file cannot be read.
    public func nextPart(length: Int) throws(KeychainError) -> Part {
        var part = Part(lines: [], isLast: false)
        var (weight, read) = (0, 0)
        while weight < length, read < Self.maxRead {
            guard !Cancellation.isCancelled else { throw Self.cancelled }
            guard let line = try nextLine() else {
                part.isLast = true
                return part
            }
            read += line.bytes.count + 1
            guard isWanted(line) else { continue }
            part.lines.append(String(decoding: line.bytes, as: UTF8.self))
            weight += line.bytes.count
        }
        return part
    }

    private func nextLine() throws(KeychainError) -> AuditLine? {
        do throws(SystemError) {
            if !hasBegun { try dropOldFiles() }
            hasBegun = true
            while let file = files.last {
                if let line = try file.next() { return line }
                _ = files.popLast()
            }
        } catch {
            throw KeychainError(error)
        }
        return nil
    }

    /// Closes the files without requested lines, because clients that follow the log request the
    /// last lines several times a second.
    private func dropOldFiles() throws(SystemError) {
        guard after > 0 else { return }
        var wanted: [AuditLineReader] = []
        for file in files {
            wanted.append(file)
            // Older files only have lines before the first line of this one.
            if let first = try file.peek()?.sequence, first <= after { break }
        }
        files = wanted
    }

    private func isWanted(_ line: AuditLine) -> Bool {
        guard let number = line.sequence, number > after, number <= last else { return false }
        guard let since, let time = line.time else { return true }
        return time >= since
    }

    private static let cancelled = KeychainError(
        .notAvailable, "the log was not read completely: latchkeyd is stopping, or the client has disconnected",
        hint: "try again")
    /// The maximum number of bytes to read for one part: 4 MiB.
    private static let maxRead = 4 << 20
}
