// SPDX-License-Identifier: Apache-2.0

/// The blocks of a text in PEM (RFC 7468), and what is lost between them.
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
        /// What is wrong with the block; nil if it has an END of its own.
        public internal(set) var defect: Defect?
    }

    /// Why a block, or a text outside of blocks, is not read.
    public enum Defect: String, Hashable, Sendable {
        case begin = "the line of its BEGIN is damaged"
        case noBegin = "an END without a BEGIN was found"
        case noEnd = "it has no END"
        case otherEnd = "its END has another label"
        case data = "base64 without BEGIN and END was found"
        case binary = "binary data was found outside of the blocks"
    }

    /// In the order of the text.
    public private(set) var blocks: [Block] = []
    /// Lines outside of blocks that look like data, as a block is whose BEGIN is lost.
    public private(set) var strays: [(line: Int, defect: Defect)] = []

    private var open: Block?
    private var line = 0
    /// Where lines of base64 outside of blocks begin, and their number.
    private var run = (line: 0, count: 0)
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

    /// Whether the bytes are a SEQUENCE in DER and no text: one in the long form of lengths, or a short
    /// one without other bytes. A text can start with 0, which is the tag of a SEQUENCE.
    public static func isDER(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "0") else { return false }
        return 0x80...0x84 ~= bytes[1] || Int(bytes[1]) == bytes.count - 2
    }

    /// The labels of blocks that tools write beside certificates and keys. A block with any other
    /// label may be a misspelled one.
    public static func isKnown(label: String) -> Bool {
        known.contains(label) || label.hasSuffix(" PRIVATE KEY") || label.hasSuffix(" PUBLIC KEY")
            || label.hasSuffix(" PARAMETERS")
    }

    private static let known: Set<String> = [
        "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE", "ATTRIBUTE CERTIFICATE", "PKCS7", "CMS",
        "PKCS #7 SIGNED DATA", "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST", "X509 CRL", "CRL", "PRIVATE KEY",
        "PUBLIC KEY",
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
                strays.append((run.count > 0 ? run.line : line, .noBegin))
                run.count = 0
            }
        case .damaged where open == nil:
            begin("", at: next)
            open?.defect = .begin
        case .damaged, nil: open == nil ? takeOutside(bytes, text) : takeHeader(bytes, text, next)
        }
    }

    private mutating func begin(_ label: String, at position: Int) {
        endRun()
        open = Block(label: label, line: line, content: position..<position)
        isHeader = true
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

    private mutating func takeOutside(_ bytes: UnsafeRawBufferPointer, _ text: Range<Int>) {
        if bytes[text].contains(0) {
            if strays.last?.defect != .binary { strays.append((line, .binary)) }
            return endRun()
        }
        guard Self.isData(bytes[text], isFirst: run.count == 0) else { return endRun() }
        run = (run.count == 0 ? line : run.line, run.count + 1)
    }

    /// Notes the lines of base64 before this one, if they cannot be a word or a hash in a comment.
    private mutating func endRun() {
        if run.count > 1 { strays.append((run.line, .data)) }
        run.count = 0
    }

    /// Whether a line is one of base64: a full one, or the last after full ones.
    private static func isData(_ line: Slice<UnsafeRawBufferPointer>, isFirst: Bool) -> Bool {
        guard line.count >= (isFirst ? minDataLength : 4), let first = line.first, first != UInt8(ascii: "=") else {
            return false
        }
        return line.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                true
            default: false
            }
        }
    }

    private static let minDataLength = 40
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
    /// A line that was meant as one: dashes or other signs, and then BEGIN or END.
    case damaged

    /// Nil for any other line, which may be secret, so that it is not converted to a string.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first, first == UInt8(ascii: "-") || first >= 0x80, line.count <= Self.maxLength else {
            return nil
        }
        let isFinished = line.count > 10 && line.suffix(5).elementsEqual(Self.dashes)
        if isFinished, line.count > 16, line.starts(with: Self.begin) {
            self = .begin(String(decoding: line.dropFirst(11).dropLast(5), as: UTF8.self))
        } else if isFinished, line.count > 14, line.starts(with: Self.finish) {
            self = .end(String(decoding: line.dropFirst(9).dropLast(5), as: UTF8.self))
        } else if Self.isDamaged(line) {
            self = .damaged
        } else {
            return nil
        }
    }

    private static func isDamaged(_ line: UnsafeRawBufferPointer) -> Bool {
        let signs = line.prefix { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: " ") || $0 >= 0x80 }
        let rest = line.dropFirst(signs.count)
        return signs.count { $0 != UInt8(ascii: " ") } >= 2
            && (rest.starts(with: "BEGIN ".utf8) || rest.starts(with: "END ".utf8))
    }

    private static let maxLength = 100
    private static let dashes = Array("-----".utf8)
    private static let begin = Array("-----BEGIN ".utf8)
    private static let finish = Array("-----END ".utf8)
}
