// SPDX-License-Identifier: Apache-2.0

/// An XML tag without its attributes.
struct XMLTag: Equatable {
    enum Kind: Equatable { case opening, closing, empty }

    let name: String
    let kind: Kind
}

/// Scans the XML of a property list. It reads no byte outside the input.
struct XMLCursor {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// - Parameter bytes: valid UTF-8.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { next == nil }

    func error(_ problem: String) -> PropertyListError { PropertyListError(problem, line: line) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take() -> UInt8? {
        guard let byte = next else { return nil }
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    // MARK: Fixed text

    private func isAt(_ text: String) -> Bool { bytes.dropFirst(position).starts(with: text.utf8) }

    /// Skips `text` if it is at the current position.
    @discardableResult
    mutating func skip(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        for _ in text.utf8 { _ = take() }
        return true
    }

    /// Skips everything up to and including `text`.
    private mutating func skip(through text: String) throws(PropertyListError) {
        while !skip(text) {
            guard take() != nil else { throw error("expected \(text)") }
        }
    }

    private mutating func skipSpace() {
        while let byte = next, byte.isXMLSpace { _ = take() }
    }

    /// Skips white space, comments and processing instructions.
    mutating func skipMisc() throws(PropertyListError) {
        while true {
            skipSpace()
            if skip("<!--") {
                try skip(through: "-->")
            } else if skip("<?") {
                try skip(through: "?>")
            } else {
                return
            }
        }
    }

    /// Skips everything before the first element.
    mutating func skipProlog() throws(PropertyListError) {
        try skipMisc()
        guard skip("<!DOCTYPE") else { return }
        while let byte = take() {
            switch byte {
            case UInt8(ascii: ">"): return try skipMisc()
            // Declarations could define entities that expand without limit.
            case UInt8(ascii: "["): throw error("a DOCTYPE with declarations is unsupported")
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try skipQuoted(byte)
            default: break
            }
        }
        throw error("expected > after <!DOCTYPE")
    }

    private mutating func skipQuoted(_ quote: UInt8) throws(PropertyListError) {
        while let byte = take() {
            if byte == quote { return }
        }
        throw error("expected a closing quotation mark")
    }

    // MARK: Tags

    /// Reads the tag at the current position; returns nil if there is none.
    mutating func tag() throws(PropertyListError) -> XMLTag? {
        guard skip("<") else { return nil }
        let isClosing = skip("/")
        var name: [UInt8] = []
        while let byte = next, byte.isXMLName, name.count < Self.maxName { name += [byte]; _ = take() }
        guard !name.isEmpty else { throw error("expected an element name") }
        let isEmpty = try skipAttributes()
        guard !isEmpty || !isClosing else { throw error("a closing tag must not end with /") }
        return XMLTag(
            name: String(decoding: name, as: UTF8.self), kind: isClosing ? .closing : isEmpty ? .empty : .opening)
    }

    /// Skips the end of the tag, and attributes, because they have no meaning in a property list.
    ///
    /// - Returns: whether the tag is empty, `/>`.
    private mutating func skipAttributes() throws(PropertyListError) -> Bool {
        while true {
            let isSpaced = next?.isXMLSpace ?? false
            skipSpace()
            if skip("/>") { return true }
            if skip(">") { return false }
            guard isSpaced, let byte = take(), byte.isXMLName else { throw error("expected the end of a tag") }
            while let byte = next, byte.isXMLName { _ = take() }
            skipSpace()
            guard skip("=") else { throw error("expected = after an attribute name") }
            skipSpace()
            guard let quote = take(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw error("expected a quoted value")
            }
            try skipQuoted(quote)
        }
    }

    // MARK: Text

    /// Reads the text up to the next tag, with references and CDATA sections resolved and comments
    /// left out.
    mutating func text() throws(PropertyListError) -> String {
        var text: [UInt8] = []
        while let byte = next {
            if skip("<!--") {
                try skip(through: "-->")
            } else if skip("<![CDATA[") {
                while !skip("]]>") {
                    guard let byte = take() else { throw error("expected ]]>") }
                    text.append(byte)
                }
            } else if byte == UInt8(ascii: "<") {
                return String(decoding: text, as: UTF8.self)
            } else if byte == UInt8(ascii: "&") {
                text += String(try reference()).utf8
            } else {
                text.append(byte)
                _ = take()
            }
        }
        throw error("expected the end of an element")
    }

    /// Reads a reference such as `&amp;` or `&#228;`.
    private mutating func reference() throws(PropertyListError) -> Character {
        var name: [UInt8] = []
        _ = take()
        while let byte = take(), byte != UInt8(ascii: ";") {
            name.append(byte)
            guard name.count <= Self.maxReference else { break }
        }
        switch String(decoding: name, as: UTF8.self) {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case let number:
            let digits = number.hasPrefix("#x") ? number.dropFirst(2) : number.hasPrefix("#") ? number.dropFirst() : ""
            guard let code = UInt32(digits, radix: number.hasPrefix("#x") ? 16 : 10), code != 0,
                let scalar = Unicode.Scalar(code)
            else {
                throw error("unknown character reference")
            }
            return Character(scalar)
        }
    }

    private static let maxName = 64
    private static let maxReference = 12
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }

    /// Whether the byte is allowed in a name of a property list.
    fileprivate var isXMLName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }
}
