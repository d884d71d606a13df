// SPDX-License-Identifier: Apache-2.0

/// Finds the parts of a text that may be another text in an encoding.
struct EncodedRuns {
    enum Encoding: String, Sendable {
        case base64, hexadecimal = "hex", percent = "percent-encoding"
    }

    /// The minimum number of characters: shorter ones hold no name together with a value.
    private static let minLength = 16
    /// The minimum number of characters of eight bytes.
    private static let minCompleteLength = 11
    /// From this length on, a run may continue in the next line.
    private static let lineLength = 56
    private static let maxLength = 16 << 20

    private let text: ScannedText
    /// Whether runs of other bytes are wanted, too.
    private let isComplete: Bool
    private let minLength: Int

    init(text: ScannedText, isComplete: Bool) {
        (self.text, self.isComplete) = (text, isComplete)
        minLength = isComplete ? Self.minCompleteLength : Self.minLength
    }

    /// What a run decodes to.
    struct Run {
        let range: Range<Int>
        let encoding: Encoding
        let decoded: [UInt8]
        /// Whether it is text, or a document of a known kind.
        let isDocument: Bool
    }

    /// Calls `body` with each run that decodes to a text, or to a document of a known kind; with `isComplete`, also with
    /// those that decode to other bytes.
    func forEach(_ body: (Run) -> Void) {
        var end = minLength - 1
        // If the last of so many characters is no member, none of the runs that contain it is long enough.
        while end < text.count {
            guard Self.members.contains(text[at: end]) else {
                end += minLength
                continue
            }
            let start = text.start(of: Self.members, to: end, limit: minLength - 1)
            guard end - start == minLength - 1 else {
                end = start + minLength - 1
                continue
            }
            let run = wholeRun(around: start)
            decode(run, body)
            end = run.upperBound + minLength
        }
        forEachPercentRun(body)
    }

    private static let members = ByteClass.base64

    /// Both ends of a run, with the lines that continue it.
    private func wholeRun(around position: Int) -> Range<Int> {
        let start = text.start(of: Self.members, to: position, limit: Self.maxLength)
        var (lineStart, end) = (start, text.end(of: Self.members, from: position, limit: Self.maxLength))
        while end - lineStart >= Self.lineLength, end - start < Self.maxLength {
            guard ByteClass.whiteSpace.contains(text[at: end]) else { break }
            let next = text.end(of: .whiteSpace, from: end, limit: 32)
            let nextEnd = text.end(of: Self.members, from: next, limit: Self.maxLength)
            guard nextEnd > next, nextEnd - next <= end - lineStart, text.part(end..<next).contains(0x0A) else { break }
            (lineStart, end) = (next, nextEnd)
        }
        return start..<end
    }

    private func decode(_ run: Range<Int>, _ body: (Run) -> Void) {
        let isHexadecimal =
            text.end(of: .hexadecimal, from: run.lowerBound, limit: Self.minLength) - run.lowerBound == Self.minLength
        // The first characters decide for most words and identifiers.
        guard isHexadecimal || isComplete || EncodedHead(text, at: run.lowerBound).mayBeDocument else { return }
        let characters = text.part(run).filter { !ByteClass.whiteSpace.contains($0) }
        if isHexadecimal, characters.allSatisfy(ByteClass.hexadecimal.contains) {
            pass(EncodedText.hexadecimal(characters.dropLast(characters.count % 2)), of: run, .hexadecimal, body)
            // Digits and letters up to F may be base64 as well.
            guard isComplete else { return }
        }
        pass(EncodedText.base64(characters.dropLast(characters.count % 4 == 1 ? 1 : 0)), of: run, .base64, body)
    }

    private func pass(_ decoded: [UInt8]?, of range: Range<Int>, _ encoding: Encoding, _ body: (Run) -> Void) {
        guard let decoded, decoded.count >= 8 else { return }
        let isDocument = Self.isDocument(decoded)
        if isDocument || isComplete {
            body(Run(range: range, encoding: encoding, decoded: decoded, isDocument: isDocument))
        }
    }

    private func forEachPercentRun(_ body: (Run) -> Void) {
        var position = 0
        while let sign = nextPercentSign(from: position) {
            position = sign + 1
            guard ByteClass.hexadecimal.contains(text[at: sign + 1]), ByteClass.hexadecimal.contains(text[at: sign + 2])
            else {
                continue
            }
            let run =
                text.start(
                    of: Self.percentMembers, to: sign, limit: 4096)..<text.end(
                    of: Self.percentMembers, from: sign, limit: 65_536)
            position = run.upperBound
            guard isComplete || text.part(run).count(where: { $0 == UInt8(ascii: "%") }) > 1 else { continue }
            pass(EncodedText.percent(text, run), of: run, .percent, body)
        }
    }

    private func nextPercentSign(from position: Int) -> Int? {
        text.first(UInt8(ascii: "%"), from: position, before: text.count)
    }

    private static let percentMembers = ByteClass { $0 > 0x20 && $0 < 0x7F && !ByteClass("\"'<>\\`").contains($0) }

    // MARK: Decoded bytes

    /// Whether the bytes are text, or begin as a document of a known kind.
    private static func isDocument(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        if DocumentKind(bytes) != nil { return true }
        let head = bytes.prefix(256)
        if head.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || ByteClass.whiteSpace.contains($0) }) { return true }
        return TextEncoding(head) != nil
            || String(validating: bytes.prefix(64), as: UTF8.self) != nil && isReadable(head)
    }

    private static func isReadable(_ head: ArraySlice<UInt8>) -> Bool {
        head.count(where: { $0 >= 0x20 && $0 < 0x7F }) * 4 >= head.count * 3 && !head.contains { $0 < 9 }
    }
}

/// The first bytes of a run of base64, decoded without memory of their own: most runs are identifiers.
private struct EncodedHead {
    private var bytes = InlineArray<9, UInt8>(repeating: 0)

    /// - Parameter start: of a run with at least twelve characters.
    init(_ text: ScannedText, at start: Int) {
        for group in 0..<3 {
            let bits = (0..<4).reduce(UInt32(0)) { $0 << 6 | Self.value(text[at: start + 4 * group + $1]) }
            for place in 0..<3 { bytes[3 * group + place] = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * place)) }
        }
    }

    /// Whether the bytes are text, or the beginning of a document of a known kind.
    var mayBeDocument: Bool {
        var (visible, zeros) = (0, 0)
        for place in bytes.indices {
            if bytes[place] >= 0x20 && bytes[place] < 0x7F || ByteClass.whiteSpace.contains(bytes[place]) {
                visible += 1
            }
            if bytes[place] == 0 { zeros += 1 }
        }
        if visible >= 8 || zeros >= 4 { return true }
        switch (bytes[0], bytes[1]) {
        case (0x30, 0x81), (0x30, 0x82), (0x1F, 0x8B), (0x50, 0x4B), (0xFF, 0xFE), (0xFE, 0xFF): return true
        default: return false
        }
    }

    private static func value(_ character: UInt8) -> UInt32 {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 0x41
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 0x61 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        default: 63
        }
    }
}
