// SPDX-License-Identifier: Apache-2.0

internal import Decompression

/// Scans a document and the documents in it.
struct DocumentScanner {
    private var findings: [SecretFinding] = []
    private var known: Set<SecretFinding> = []
    private var problems: [ScanProblem] = []
    private var budget: ScanBudget
    private let observer: TextObserver?

    /// How a part of a larger text is scanned: matches that begin in `accepted` belong to it.
    struct Window {
        var accepted = 0..<Int.max
        /// The position of the part's first byte, from 1.
        var line = 1
        var column = 1
        /// The position of the part's first byte in the file, from 0; nil if the text is not a part of the file's bytes.
        var offset: Int?
    }

    init(_ limits: ScanLimits, observer: TextObserver? = nil) {
        (budget, self.observer) = (ScanBudget(limits), observer)
    }

    /// The findings and the problems, the limits that were exceeded among them.
    func report(_ names: [String]) -> ScanReport {
        let exceeded = budget.exceeded.sorted { $0.rawValue < $1.rawValue }
            .map { ScanProblem(names: names, reason: $0.sentence(budget.limits)) }
        return ScanReport(findings: findings, problems: problems + exceeded)
    }

    /// Reports that the file was changed while it was read.
    mutating func reportChange() { _ = budget.exceed(.change) }

    /// Reports that the file is too long to be read as the document that it is.
    mutating func reportLength() { _ = budget.exceed(.length) }

    // MARK: Documents

    /// - Parameters:
    ///   - depth: of the document: 0 for a file.
    ///   - context: of a text; nil if the name of the place tells it.
    mutating func scan(_ bytes: [UInt8], _ place: ScanPlace, depth: Int, context: TextContext? = nil) {
        guard budget.takeDocument(length: bytes.count, depth: depth) else { return }
        switch DocumentKind(bytes) {
        case .zip: scanArchive(ZipArchive(bytes), place, depth)
        case .tar: scanArchive(TarArchive(bytes), place, depth)
        case .gzip: scanCompressed(bytes, place, depth)
        case .sqlite:
            // Deleted rows are in its free pages.
            observe(bytes[...], place.decoded(from: TextObserver.rawBytes))
            scanRecords(SQLiteStore(bytes), place, depth)
        case .propertyList: scanRecords(PropertyListStore(bytes), place, depth)
        case .der: scanKey(bytes, place, depth, context)
        case .unread(let format):
            problems.append(ScanProblem(names: place.names, reason: "the format \(format) is not read"))
        case nil: scanText(bytes, place, depth, context)
        }
    }

    private mutating func scanKey(_ bytes: [UInt8], _ place: ScanPlace, _ depth: Int, _ context: TextContext?) {
        if BinaryKey.isPlainKey(bytes) {
            observe(bytes[...], place)
            return add(.privateKey, place, name: "", bytes[...], .binary)
        }
        switch BinaryKey.archive(bytes) {
        case .weak: add(.keyArchive, place, name: "", bytes[...], .binary)
        case .untried:
            problems.append(
                ScanProblem(
                    names: place.names,
                    reason: "usual passwords cannot be tried on the PKCS #12 file: it has many iterations, or an "
                        + "unsupported kind of key"))
        case nil: scanText(bytes, place, depth, context)
        }
    }

    /// Scans a SQLite database in the state of its write-ahead log.
    mutating func scanDatabase(_ bytes: [UInt8], log: [UInt8], _ place: ScanPlace) {
        guard budget.takeDocument(length: bytes.count + log.count, depth: 0) else { return }
        observe(bytes[...], place.decoded(from: TextObserver.rawBytes))
        observe(log[...], place.decoded(from: TextObserver.rawBytes))
        scanRecords(SQLiteStore(bytes, log: log), place, 0)
    }

    private mutating func scanArchive(_ archive: some ArchiveReader, _ place: ScanPlace, _ depth: Int) {
        var archive = archive
        while true {
            do throws(ArchiveError) {
                guard let entry = try archive.next(limit: budget.decodableLength) else { return }
                scan(entry.content, place.inside(entry.name), depth: depth + 1)
            } catch {
                problems.append(ScanProblem(names: place.names, reason: error.reason))
                guard error.isRecoverable else { return }
            }
        }
    }

    private mutating func scanCompressed(_ bytes: [UInt8], _ place: ScanPlace, _ depth: Int) {
        do throws(DecompressionError) {
            let content = try Inflater.gzip(bytes, limit: budget.decodableLength)
            scan(content, place.inside(Self.nameInside(place.names.last ?? "")), depth: depth + 1)
        } catch {
            problems.append(ScanProblem(names: place.names, reason: "the gzip data is not valid: \(error.description)"))
        }
    }

    private static func nameInside(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        for (ending, inner) in [(".tgz", ".tar"), (".gz", "")] where name.hasSuffix(ending) {
            return String(name.dropLast(ending.count)) + inner
        }
        return name
    }

    // MARK: Records

    private mutating func scanRecords(_ store: some RecordStore, _ place: ScanPlace, _ depth: Int) {
        do throws(RecordError) {
            try store.forEach(limit: budget.decodableLength) { record in
                scan(record, place.inside(record.path), depth)
            }
        } catch {
            problems.append(ScanProblem(names: place.names, reason: error.reason))
        }
    }

    private mutating func scan(_ record: StoredValue, _ place: ScanPlace, _ depth: Int) {
        let (value, known) = (record.value, findings.count)
        // Shorter ones contain no token and no name.
        if value.count >= 8 { scan(value, place, depth: depth + 1, context: .record) }
        guard findings.count == known, let name = SecretName(record.name.utf8) else { return }
        let check = ValueCheck(name: name, context: .record, isDelimited: true)
        if check.isSecret(value[...]) { add(.namedValue, place, name: record.name, value[...], .document) }
    }

    // MARK: Texts

    private mutating func scanText(_ bytes: [UInt8], _ place: ScanPlace, _ depth: Int, _ context: TextContext?) {
        if let encoding = TextEncoding(bytes[...]) {
            scanText(ScannedText(encoding.utf8(bytes)), place, depth, context: context)
        } else {
            scanText(ScannedText(bytes), place, depth, Window(offset: 0), context: context)
        }
    }

    /// Scans a text, or a part of one.
    mutating func scanText(
        _ text: ScannedText, _ place: ScanPlace, _ depth: Int, _ window: Window = Window(), context: TextContext? = nil
    ) {
        let path = place.names.last ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let context = context ?? TextContext(name: path, head: text.part(0..<4096))
        var position = TextPosition(line: window.line, column: window.column)
        budget.addText(length: text.count)
        let matches = TextScanner.shared.matches(in: text, context, fileName: name) { budget.takeTime() }
        for match in matches where window.accepted.contains(match.range.lowerBound) {
            position.advance(to: match.range.lowerBound, in: text)
            add(
                match.kind, place.at(line: position.line, column: position.column), name: text.string(match.name),
                text.part(match.range), SecretReplacement(match, in: text, context, place, offset: window.offset))
        }
        observe(text, window, place)
        position = TextPosition(line: window.line, column: window.column)
        EncodedRuns(text: text, isComplete: observer != nil).forEach { run in
            guard window.accepted.contains(run.range.lowerBound) else { return }
            position.advance(to: run.range.lowerBound, in: text)
            let place = place.at(line: position.line, column: position.column).decoded(from: run.encoding.rawValue)
            // The base64 of a private key is a part of its block.
            if run.isDocument, !matches.contains(where: { $0.range.overlaps(run.range) }) {
                scan(run.decoded, place, depth: depth + 1, context: .configuration)
            } else {
                observe(run.decoded[...], place)
            }
        }
    }

    // MARK: The observer

    /// Shows the observer a part of a text, and in it the characters of UTF-16.
    private mutating func observe(_ text: ScannedText, _ window: Window, _ place: ScanPlace) {
        guard observer != nil else { return }
        var position = TextPosition(line: window.line, column: window.column)
        position.advance(to: window.accepted.lowerBound, in: text)
        // The overlap with the next part has the rest of whatever begins here.
        observe(
            text.part(window.accepted.lowerBound..<text.count),
            place.at(line: position.line, column: position.column))
        WideRuns.forEach(in: text) { offset, characters in
            guard window.accepted.contains(offset) else { return }
            position.advance(to: offset, in: text)
            observe(characters[...], place.at(line: position.line, column: position.column).decoded(from: "UTF-16"))
        }
    }

    private mutating func observe(_ bytes: ArraySlice<UInt8>, _ place: ScanPlace) {
        guard let observer, budget.takeDecoded(bytes.count) else { return }
        observer.take(bytes, place)
    }

    // MARK: Findings

    private mutating func add(
        _ kind: SecretKind, _ place: ScanPlace, name: String, _ secret: ArraySlice<UInt8>,
        _ replacement: SecretReplacement
    ) {
        guard budget.takeFinding() else { return }
        let finding = SecretFinding(kind, place, name: name, secret: secret, replacement)
        if known.insert(finding).inserted { findings.append(finding) }
    }
}

/// Counts lines up to a position.
struct TextPosition {
    private(set) var line: Int
    private(set) var column: Int
    private var offset = 0
    private let first: (line: Int, column: Int)

    init(line: Int, column: Int) { (self.line, self.column, first) = (line, column, (line, column)) }

    mutating func advance(to position: Int, in text: ScannedText) {
        if position < offset { (line, column, offset) = (first.line, first.column, 0) }
        let ends = text.lineEnds(in: offset..<position)
        line += ends.count
        column = ends.count == 0 ? column + position - offset : position - ends.last + 1
        offset = position
    }
}
