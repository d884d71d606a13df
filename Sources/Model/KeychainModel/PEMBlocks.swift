// SPDX-License-Identifier: Apache-2.0

/// The blocks of a text in PEM (RFC 7468), and the data between them that is lost.
///
/// Only positions are found, and no content is copied or decoded: it may be secret. A byte order mark
/// and white space before a mark are skipped, as in files that were joined or indented. Lines end
/// with LF, CR LF or CR.
public struct PEMBlocks: Sendable {
    /// A block, from its BEGIN to its END or to the place where an END is missing.
    public struct Block: Hashable, Sendable {
        /// Empty if the line of the BEGIN is damaged.
        public let label: String
        /// The number of the line with the BEGIN, from 1.
        public let line: Int
        /// The positions of the content, without headers such as `Proc-Type:`.
        public internal(set) var content: Range<Int>
        public internal(set) var hasHeaders = false
        /// The defect of the block; nil if it has an END of its own.
        public internal(set) var defect: Defect?

        /// The label in quotes, with the printable characters of ASCII alone.
        public var quotedLabel: String {
            "'\(String(label.unicodeScalars.filter { 0x20..<0x7F ~= $0.value }.map(Character.init)))'"
        }
    }

    /// Why a block, or a text outside of blocks, is not read.
    public enum Defect: String, Hashable, Sendable {
        case begin = "the line of its BEGIN is damaged"
        case inside = "a BEGIN that does not start its line was found"
        case noBegin = "an END without a BEGIN was found"
        case noEnd = "it has no END"
        case otherEnd = "its END has another label"
        case data = "base64 without a line of BEGIN was found"
        case binary = "binary data was found outside of the blocks"
    }

    /// In the order of the text.
    public private(set) var blocks: [Block] = []
    /// Lines outside of blocks that look like data, for example a block without its BEGIN.
    public private(set) var strays: [(line: Int, defect: Defect)] = []

    private var open: Block?
    private var line = 0
    /// The first line of a run of data outside of blocks, and its defect; nil if the last line was no data. A single
    /// line may be a word or a hash, and has no defect.
    private var run: (line: Int, defect: Defect?)?
    /// Whether the headers of the open block may go on.
    private var isHeader = false

    public init(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != Self.lineFeed, bytes[end] != Self.carriageReturn { end += 1 }
            let isPair =
                end + 1 < bytes.count && bytes[end] == Self.carriageReturn && bytes[end + 1] == Self.lineFeed
            let next = min(bytes.count, end + (isPair ? 2 : 1))
            line += 1
            take(bytes, start..<end, next)
            start = next
        }
        close(.noEnd, at: bytes.count)
        endRun()
    }

    /// Whether the text has a block or a part of one.
    public var isEmpty: Bool { blocks.isEmpty }

    /// Whether the bytes are a SEQUENCE in DER and not text: a SEQUENCE with the long form of lengths, or a short one
    /// without other bytes. A text can start with 0, the tag of a SEQUENCE.
    public static func isDER(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "0") else { return false }
        return 0x80...0x84 ~= bytes[1] || Int(bytes[1]) == bytes.count - 2
    }

    /// Whether a label is one of a key that is read, or one that tools write beside certificates and keys. A
    /// block with any other label may be a misspelled one, or a key that is lost if it is skipped.
    public static func isKnown(label: String) -> Bool {
        known.contains(label) || keyLabels.contains(label) || label.hasSuffix(" PARAMETERS")
    }

    /// The labels of the keys that are read.
    public static let keyLabels: Set<String> = [
        "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY",
        "PUBLIC KEY", "RSA PUBLIC KEY",
    ]

    private static let known: Set<String> = [
        "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "ATTRIBUTE CERTIFICATE", "PKCS7", "CMS",
        "PKCS #7 SIGNED DATA", "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST", "X509 CRL", "CRL",
    ]

    // MARK: Lines

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ next: Int) {
        let text = Self.trimmed(bytes, range)
        switch Mark(UnsafeRawBufferPointer(rebasing: bytes[text])) {
        case .begin(let label):
            close(.noEnd, at: range.lowerBound)
            begin(label, at: next)
        case .end(let label):
            if let open {
                close(open.defect ?? (open.label == label ? nil : .otherEnd), at: range.lowerBound)
            } else {
                endWithoutBegin()
            }
        case .damagedBegin(let isWhole):
            close(.noEnd, at: range.lowerBound)
            begin("", at: next)
            open?.defect = .begin
            if isWhole { close(nil, at: next) }
        case .damagedEnd where open == nil: endWithoutBegin()
        case .damagedEnd: if open?.defect == nil { open?.defect = .noEnd }
        case nil: open == nil ? takeOutside(bytes, text) : takeHeader(bytes, text, next)
        }
    }

    private mutating func begin(_ label: String, at position: Int) {
        endRun()
        open = Block(label: label, line: line, content: position..<position)
        isHeader = true
    }

    private mutating func endWithoutBegin() {
        strays.append((run?.line ?? line, .noBegin))
        run = nil
    }

    private mutating func close(_ defect: Defect?, at position: Int) {
        guard var block = open else { return }
        block.defect = block.defect ?? defect
        block.content = block.content.lowerBound..<max(block.content.lowerBound, position)
        blocks.append(block)
        open = nil
    }

    /// Headers (RFC 1421, section 4.4) are the lines up to an empty one, if the first has a colon.
    private mutating func takeHeader(_ bytes: UnsafeRawBufferPointer, _ text: Range<Int>, _ next: Int) {
        guard isHeader else { return }
        if open?.hasHeaders == false { open?.hasHeaders = bytes[text].contains(UInt8(ascii: ":")) }
        isHeader = open?.hasHeaders == true && !text.isEmpty
        if open?.hasHeaders == true { open?.content = next..<next }
    }

    /// Notes data, also in the text of another format, such as a variable or a list. Comments after `#`
    /// are left out.
    private mutating func takeOutside(_ bytes: UnsafeRawBufferPointer, _ text: Range<Int>) {
        let text = bytes[text]
        if text.contains(0) {
            if strays.last?.defect != .binary { strays.append((line, .binary)) }
            return endRun()
        }
        guard text.first != UInt8(ascii: "#") else { return endRun() }
        if Mark.isInside(text) {
            endRun()
            run = (line, .inside)
        } else if Self.dataLength(text) >= Self.certainDataLength {
            run = (run?.line ?? line, run?.defect ?? .data)
        } else if Self.isData(text, minLength: run == nil ? Self.minDataLength : 4) {
            run = run.map { ($0.line, $0.defect ?? .data) } ?? (line, nil)
        } else {
            endRun()
        }
    }

    private mutating func endRun() {
        if let run, let defect = run.defect { strays.append((run.line, defect)) }
        run = nil
    }

    /// Whether a line is one of base64: a full one, or the last after full ones.
    private static func isData(_ line: Slice<UnsafeRawBufferPointer>, minLength: Int) -> Bool {
        line.count >= minLength && line.first != UInt8(ascii: "=") && line.allSatisfy(isBase64)
    }

    /// The number of bytes in words of base64 that are as long as a line of it. A key of OpenSSH starts with zeros and
    /// is not counted: its line has no BEGIN.
    private static func dataLength(_ line: Slice<UnsafeRawBufferPointer>) -> Int {
        var sum = 0
        var rest = line
        while let start = rest.firstIndex(where: isBase64) {
            let word = rest[start...].prefix(while: isBase64)
            if word.count >= minDataLength, !word.starts(with: "AAAA".utf8) { sum += word.count }
            rest = rest[word.endIndex...]
        }
        return sum
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    private static let minDataLength = 40
    /// More than the digits of SHA-1, SHA-256 and SHA-512 on one line, and less than a certificate.
    private static let certainDataLength = 240
    private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

    /// The positions of a line without white space at its ends, and without a byte order mark at its
    /// beginning.
    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while bytes[start..<end].starts(with: byteOrderMark) { start += byteOrderMark.count }
        while start < end, isSpace(bytes[start]) { start += 1 }
        while start < end, isSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }
}

/// A line that begins or ends a block.
private enum Mark {
    case begin(String)
    case end(String)
    /// A line that was meant as one: dashes or other signs, and then BEGIN or END. It may contain the
    /// whole block.
    case damagedBegin(isWhole: Bool)
    case damagedEnd

    /// Nil for any other line. Such a line may be secret, so it is not converted to a string. A line that is too long
    /// for a label is damaged.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first, first == UInt8(ascii: "-") || first >= 0x80 else { return nil }
        let isWhole = Self.contains(line, Self.finish)
        let isFinished = 11...Self.maxLength ~= line.count && line.suffix(5).elementsEqual(Self.dashes)
        if isFinished, !isWhole, line.count > 16, line.starts(with: Self.begin) {
            self = .begin(String(decoding: line.dropFirst(11).dropLast(5), as: UTF8.self))
        } else if isFinished, line.count > 14, line.starts(with: Self.finish) {
            self = .end(String(decoding: line.dropFirst(9).dropLast(5), as: UTF8.self))
        } else {
            let signs = line.prefix { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: " ") || $0 >= 0x80 }
            let rest = line.dropFirst(signs.count)
            guard signs.count(where: { $0 != UInt8(ascii: " ") }) >= 2 else { return nil }
            if rest.starts(with: "BEGIN ".utf8) {
                self = .damagedBegin(isWhole: isWhole)
            } else if rest.starts(with: "END ".utf8) {
                self = .damagedEnd
            } else {
                return nil
            }
        }
    }

    /// Whether a line contains a BEGIN, as a variable with a block does.
    static func isInside(_ line: Slice<UnsafeRawBufferPointer>) -> Bool { contains(line, begin) }

    private static func contains(_ line: some Collection<UInt8>, _ mark: [UInt8]) -> Bool {
        var rest = line[...]
        while let dash = rest.firstIndex(of: UInt8(ascii: "-")) {
            rest = rest[dash...]
            if rest.starts(with: mark) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static let maxLength = 100
    private static let dashes = Array("-----".utf8)
    private static let begin = Array("-----BEGIN ".utf8)
    private static let finish = Array("-----END ".utf8)
}
