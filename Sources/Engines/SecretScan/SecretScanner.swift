// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// Finds secrets that lie in the clear in a file: in its text, in documents in it, and in encodings of both. Thread-safe.
///
/// Files are untrusted: ``ScanLimits`` limits the cost of a scan.
///
/// ```swift
/// let report = SecretScanner().scan(Array("password = x8Kd02-lqpA".utf8), name: "app.conf")
/// report.findings.first?.kind.id   // "named-value"
/// ```
public struct SecretScanner: Sendable {
    private let limits: ScanLimits

    public init(_ limits: ScanLimits = ScanLimits()) { self.limits = limits }

    /// Scans bytes.
    ///
    /// - Parameters:
    ///   - name: of the file that has them. Its ending tells how values are written.
    ///   - observer: sees every text.
    public func scan(_ bytes: [UInt8], name: String, observer: TextObserver? = nil) -> ScanReport {
        var scanner = DocumentScanner(limits, observer: observer)
        scanner.scan(bytes, ScanPlace(name), depth: 0)
        return scanner.report([name])
    }

    /// Scans a regular file. A database of SQLite is read together with the write-ahead log beside it. No file is changed.
    ///
    /// A text is read in parts, so that the memory does not depend on its length.
    ///
    /// - Throws: if the file cannot be opened or read, or if it is no regular file.
    public func scan(file path: FilePath) throws(SystemError) -> ScanReport {
        try scan(
            OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), name: path.description
        )
    }

    /// Scans an open file, from its beginning.
    ///
    /// - Parameters:
    ///   - name: its path, for the findings and to find the log of a database.
    ///   - observer: sees every text.
    public func scan(
        _ file: borrowing OwnedDescriptor, name: String, observer: TextObserver? = nil
    ) throws(SystemError) -> ScanReport {
        let state = try FileAttributes(of: file, path: name, withExtended: false)
        guard state.isRegular else {
            throw SystemError("scan", path: name, code: EINVAL, hint: "it is not a regular file")
        }
        let size = Int(clamping: state.size)
        var scanner = DocumentScanner(limits, observer: observer)
        // Some files of the kernel have bytes, and a size of zero; others grow meanwhile.
        var head = try file.read(upTo: min(Self.partLength, size + 1), path: name)
        if head.count == size + 1, head.count < Self.partLength {
            head += try file.read(upTo: Self.partLength - head.count, path: name)
        }
        let isDocument = DocumentKind(head) != nil || TextEncoding(head[...]) != nil
        if head.count < Self.partLength {
            try Self.scan(head, name, &scanner)
        } else if isDocument, size <= limits.maxDocumentLength {
            let rest = try file.read(upTo: max(0, size - head.count) + 1, path: name)
            try Self.scan(head + rest, name, &scanner)
        } else {
            if isDocument { scanner.reportLength() }
            try Self.scanParts(of: file, length: size, head, name, &scanner)
        }
        if try FileAttributes(of: file, path: name, withExtended: false).stamp != state.stamp { scanner.reportChange() }
        return scanner.report([name])
    }

    private static func scan(_ bytes: [UInt8], _ name: String, _ scanner: inout DocumentScanner) throws(SystemError) {
        guard case .sqlite = DocumentKind(bytes), let log = try BoundedFile.read(name + "-wal", limit: maxLogLength),
            !log.isEmpty
        else {
            return scanner.scan(bytes, ScanPlace(name), depth: 0)
        }
        scanner.scanDatabase(bytes, log: log, ScanPlace(name))
    }

    // MARK: Parts

    /// The length of a part of a text, and of the bytes in two parts: a secret that begins in a part is whole in
    /// it or in the next one.
    private static let partLength = 4 << 20
    private static let overlap = 128 << 10
    /// How far before itself a match looks.
    private static let lookBehind = 4096
    private static let maxLogLength = 64 << 20

    private static func scanParts(
        of file: borrowing OwnedDescriptor, length: Int, _ head: [UInt8], _ name: String,
        _ scanner: inout DocumentScanner
    ) throws(SystemError) {
        var (part, accepted, offset, read) = (head, 0, 0, head.count)
        var position = TextPosition(line: 1, column: 1)
        while true {
            let next = try file.read(upTo: partLength - overlap - lookBehind, path: name)
            read += next.count
            // A file may grow as fast as it is read.
            let hasGrown = read > length
            if hasGrown {
                scanner.reportChange()
                part += next
            }
            let isLast = next.isEmpty || hasGrown
            let end = isLast ? Int.max : part.count - overlap
            let text = ScannedText(part)
            scanner.scanText(
                text, ScanPlace(name), 0,
                DocumentScanner.Window(
                    accepted: accepted..<end, line: position.line, column: position.column, offset: offset))
            guard !isLast else { return }
            let start = end - lookBehind
            position.advance(to: start, in: text)
            position = TextPosition(line: position.line, column: position.column)
            offset += start
            part = Array(part.dropFirst(start)) + next
            accepted = lookBehind
        }
    }
}

/// The result of a scan.
public struct ScanReport: Sendable {
    /// In the order of the rules: of each text, those that are read as they are come first.
    public let findings: [SecretFinding]
    /// The parts that were not scanned.
    public let problems: [ScanProblem]

    public init(findings: [SecretFinding], problems: [ScanProblem]) {
        (self.findings, self.problems) = (findings, problems)
    }
}
