// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

/// The lines of a log at one moment, given in parts. What is written, put aside or removed after that moment changes nothing of them.
public final class AuditReading: @unchecked Sendable {  // because one thread at a time uses it
    /// Some lines, in order.
    public struct Part: Sendable {
        public var lines: [String]
        /// Whether no other part follows.
        public var isLast: Bool
    }

    /// The number of the last line at that moment.
    public let last: UInt64

    private let after: UInt64
    private let since: Double?
    /// The files that are not read to their end, the next one last. They are open, so that their names no longer matter.
    private(set) var files: [AuditLineReader]
    private var hasBegun = false

    /// Opens every file of the log. No file may be put aside or replaced meanwhile.
    ///
    /// - Parameters:
    ///   - after: the number before the first line that is wanted.
    ///   - since: seconds since 1970; nil for any time.
    ///   - last: the number of the last line that is written.
    init(_ files: AuditFiles, after: UInt64, since: Double?, last: UInt64) throws(SystemError) {
        var opened: [AuditLineReader] = []
        for age in 0...(try files.count()) {
            if let file = try AuditLineReader.open(files.path(ofAge: age)) { opened.append(file) }
        }
        self.files = opened
        (self.after, self.since, self.last) = (after, since, last)
    }

    /// Reads until the lines that are wanted have about `length` bytes, or the work for one part is done: a part may have no lines, and others
    /// follow.
    ///
    /// - Throws: errSecNotAvailable where the work on this thread was cancelled; errSecIO and the like where a file cannot be read.
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

    /// Closes the files that hold no line that is wanted: whoever follows the log asks for the last lines several times a second.
    private func dropOldFiles() throws(SystemError) {
        guard after > 0 else { return }
        var wanted: [AuditLineReader] = []
        for file in files {
            wanted.append(file)
            // What is older comes before its first line.
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
        .notAvailable, "the log was not read to its end: latchkeyd is stopping, or its client has gone",
        hint: "try again")
    /// The bytes that are read for one part, 4 MiB.
    private static let maxRead = 4 << 20
}
