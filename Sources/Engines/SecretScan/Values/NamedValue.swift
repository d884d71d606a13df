// SPDX-License-Identifier: Apache-2.0

/// A value behind a secret's name: `password = value`, `"secret": "value"`, `<key>token</key><string>value</string>`.
struct NamedValue {
    let name: Range<Int>
    let value: Range<Int>
    /// Whether quotes or tags mark where the value begins and ends.
    let isDelimited: Bool

    /// The maximum length of a name and of a value.
    private static let maxLength = 4096

    /// Reads the value that belongs to the name at a position.
    ///
    /// - Returns: nil if the name has no value there.
    init?(in text: ScannedText, around position: Int) {
        let start = text.start(of: .wordHyphenDot, to: position, limit: 128)
        var end = text.end(of: .wordHyphenDot, from: position, limit: 128)
        // "password." at the end of a sentence.
        if text[at: end - 1] == UInt8(ascii: ".") { end -= 1 }
        // A path such as /etc/passwd is no name.
        guard end > start, end - start < 128, text[at: start - 1] != UInt8(ascii: "/") else { return nil }
        name = start..<end
        guard let (value, isDelimited) = Self.value(in: text, behind: end, nameStart: start) else { return nil }
        self.value = value
        // A variable of the environment, in memory.
        self.isDelimited =
            isDelimited
            || text[at: start - 1] == 0 && start > 0 && text[at: value.upperBound] == 0 && value.upperBound < text.count
    }

    private static func value(in text: ScannedText, behind end: Int, nameStart: Int) -> (Range<Int>, Bool)? {
        if let element = element(in: text, behind: end, nameStart: nameStart) { return (element, true) }
        var position = end
        // The quote or bracket that closes the name: "password", ['password'], \"password\".
        position = skipEscape(text, position)
        let isQuotedName = ByteClass.quotes.contains(text[at: position])
        if isQuotedName { position += 1 }
        if text[at: position] == UInt8(ascii: "]") { position += 1 }
        let afterName = position
        position = text.end(of: .blank, from: position, limit: 64)
        if position > afterName, isDefinition(text, nameStart, position) { return content(in: text, at: position) }
        if isQuotedName, let value = argument(in: text, at: position, nameStart) { return (value, true) }
        // A type: `password: String = "…"`.
        guard let afterSign = separator(in: text, at: position, spaced: position > afterName) else {
            return attribute(in: text, behind: end)
        }
        position = text.end(of: .blank, from: afterSign, limit: 64)
        if let behindType = type(in: text, at: position) { position = behindType }
        return content(in: text, at: position)
    }

    // MARK: Separators

    /// Returns the end of `=`, `:`, `:=`, `=>`, `==`-free; nil for a comparison and for none.
    private static func separator(in text: ScannedText, at position: Int, spaced: Bool) -> Int? {
        if text.has("=>", at: position) || text.has(":=", at: position) || text.has("?=", at: position)
            || text.has("->", at: position)
        {
            return position + 2
        }
        if text.has("==", at: position) || text.has("=~", at: position) || text.has("::", at: position) { return nil }
        if text[at: position] == UInt8(ascii: "=") { return position + 1 }
        if text[at: position] == UInt8(ascii: ":") {
            // Without a space it separates the fields of a record, unless the name or the value is quoted.
            let next = text[at: position + 1]
            let isQuoted = ByteClass.quotes.contains(text[at: position - 1]) || ByteClass.quotes.contains(next)
            let mayBeApart = isQuoted || spaced || next == UInt8(ascii: "\\") || ByteClass.whiteSpace.contains(next)
            return mayBeApart ? position + 1 : nil
        }
        return nil
    }

    /// The second argument of a call with the name as its first one: `set("password", "value")`.
    private static func argument(in text: ScannedText, at position: Int, _ nameStart: Int) -> Range<Int>? {
        guard text[at: position] == UInt8(ascii: ","), text[at: nameStart - 2] == UInt8(ascii: "(") else { return nil }
        let start = text.end(of: .blank, from: position + 1, limit: 64)
        return ByteClass.quotes.contains(text[at: start]) ? quoted(in: text, from: start + 1, text[at: start]) : nil
    }

    /// Whether a text in quotes follows in `#define NAME "…"` or in SQL's `with password '…'`.
    private static func isDefinition(_ text: ScannedText, _ nameStart: Int, _ position: Int) -> Bool {
        guard ByteClass.quotes.contains(text[at: position]) else { return false }
        return text.has("#define ", at: nameStart - 8) || text.hasAnyCase("with ", at: nameStart - 5)
            || text.hasAnyCase("encrypted ", at: nameStart - 10)
    }

    /// Returns the end of a type and its `=`, such as in `password: String = "…"`.
    private static func type(in text: ScannedText, at position: Int) -> Int? {
        let end = text.end(of: typeCharacters, from: position, limit: 64)
        guard end > position else { return nil }
        let sign = text.end(of: .blank, from: end, limit: 8)
        guard text[at: sign] == UInt8(ascii: "="), text[at: sign + 1] != UInt8(ascii: "="), sign > end else {
            return nil
        }
        let content = text.end(of: .blank, from: sign + 1, limit: 8)
        return ByteClass.quotes.contains(text[at: content]) ? content : nil
    }

    private static func skipEscape(_ text: ScannedText, _ position: Int) -> Int {
        text[at: position] == UInt8(ascii: "\\") && ByteClass.quotes.contains(text[at: position + 1])
            ? position + 1 : position
    }

    // MARK: Values

    private static func content(in text: ScannedText, at start: Int) -> (Range<Int>, Bool)? {
        var start = start
        // Prefixes of strings: b"…", r"…", @"…".
        if stringPrefixes.contains(text[at: start]), ByteClass.quotes.contains(text[at: start + 1]) { start += 1 }
        let escaped = skipEscape(text, start)
        if ByteClass.quotes.contains(text[at: escaped]) {
            let quote = text[at: escaped]
            return quoted(in: text, from: escaped + 1, quote).map { ($0, true) }
        }
        let end = text.first(of: wordEnd, from: start, before: min(text.count, start + maxLength))
        guard end > start else { return nil }
        return (start..<end, false)
    }

    private static let wordEnd = ByteClass { $0 <= 0x20 || ByteClass("\"'`,;<>&").contains($0) }
    private static let stringPrefixes = ByteClass("brufBRUF@")
    private static let typeCharacters = ByteClass.word.union("?!<>.")
    private static let tagEnd = ByteClass(">")
    private static let textEnd = ByteClass("<\0")

    private static func quoted(in text: ScannedText, from start: Int, _ quote: UInt8) -> Range<Int>? {
        var position = start
        let last = min(text.count, start + maxLength)
        while position < last {
            let byte = text[at: position]
            if byte == quote { return start..<(text[at: position - 1] == UInt8(ascii: "\\") ? position - 1 : position) }
            if ByteClass.lineEnd.contains(byte) { return nil }
            // An escaped character, unless the closing quote itself is escaped: a text in a text.
            position += byte == UInt8(ascii: "\\") && text[at: position + 1] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    // MARK: XML

    /// `<password>value</password>`, `<key>password</key> <string>value</string>`, `<string name="password">value<`.
    private static func element(in text: ScannedText, behind end: Int, nameStart: Int) -> Range<Int>? {
        var position = end
        if ByteClass.quotes.contains(text[at: position]) { position += 1 }
        position = text.end(of: .blank, from: position, limit: 16)
        if text[at: position] == UInt8(ascii: ">") { return characters(in: text, from: position + 1) }
        guard text[at: position] == UInt8(ascii: "<"), text[at: position + 1] == UInt8(ascii: "/") else { return nil }
        // The end of an element with the name; the next element has the value.
        let closing = text.first(of: tagEnd, from: position, before: position + 64)
        let next = text.end(of: .whiteSpace, from: closing + 1, limit: 256)
        guard text[at: next] == UInt8(ascii: "<"), ByteClass.letters.contains(text[at: next + 1]) else { return nil }
        let opening = text.first(of: tagEnd, from: next, before: next + 128)
        guard text[at: opening] == UInt8(ascii: ">"), text[at: opening - 1] != UInt8(ascii: "/") else { return nil }
        return characters(in: text, from: opening + 1)
    }

    private static func characters(in text: ScannedText, from start: Int) -> Range<Int>? {
        let first = text.end(of: .whiteSpace, from: start, limit: 256)
        let end = text.first(of: textEnd, from: first, before: min(text.count, first + maxLength))
        guard text[at: end] == UInt8(ascii: "<"), text[at: end + 1] == UInt8(ascii: "/") else { return nil }
        var last = end
        while last > first, ByteClass.whiteSpace.contains(text[at: last - 1]) { last -= 1 }
        return last > first ? first..<last : nil
    }

    /// `name="password" value="…"`, in a tag of XML.
    private static func attribute(in text: ScannedText, behind end: Int) -> (Range<Int>, Bool)? {
        guard ByteClass.quotes.contains(text[at: end]) else { return nil }
        let space = text.end(of: .whiteSpace, from: end + 1, limit: 64)
        guard space > end + 1, text.has("value=", at: space), ByteClass.quotes.contains(text[at: space + 6]) else {
            return nil
        }
        return quoted(in: text, from: space + 7, text[at: space + 6]).map { ($0, true) }
    }
}
