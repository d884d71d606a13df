// SPDX-License-Identifier: Apache-2.0

/// A tag of XML without its attributes.
struct XMLTag: Equatable {
    enum Kind: Equatable { case opening, closing, empty }

    let name: String
    let kind: Kind
}

/// Walks through the XML of a property list. Every access is to a byte that is there, or says that there is none.
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

    /// Passes over a text that stands here.
    @discardableResult
    mutating func skip(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        for _ in text.utf8 { _ = take() }
        return true
    }

    /// Passes over everything up to and with a text.
    private mutating func skip(through text: String) throws(PropertyListError) {
        while !skip(text) {
            guard take() != nil else { throw error("expected \(text)") }
        }
    }

    private mutating func skipSpace() {
        while let byte = next, byte.isXMLSpace { _ = take() }
    }

    /// Spaces, comments and processing instructions.
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

    /// What stands before the first element.
    mutating func skipProlog() throws(PropertyListError) {
        try skipMisc()
        guard skip("<!DOCTYPE") else { return }
        while let byte = take() {
            switch byte {
            case UInt8(ascii: ">"): return try skipMisc()
            // Declarations could make entities that grow without limit.
            case UInt8(ascii: "["): throw error("a DOCTYPE with declarations of its own is unsupported")
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try skipQuoted(byte)
            default: break
            }
        }
        throw error("expected > behind <!DOCTYPE")
    }

    private mutating func skipQuoted(_ quote: UInt8) throws(PropertyListError) {
        while let byte = take() {
            if byte == quote { return }
        }
        throw error("expected the end of a quoted text")
    }

    // MARK: Tags

    /// The tag that stands here; nil where none does.
    mutating func tag() throws(PropertyListError) -> XMLTag? {
        guard skip("<") else { return nil }
        let isClosing = skip("/")
        var name: [UInt8] = []
        while let byte = next, byte.isXMLName, name.count < Self.maxName { name += [byte]; _ = take() }
        guard !name.isEmpty else { throw error("expected the name of an element") }
        let isEmpty = try skipAttributes()
        guard !isEmpty || !isClosing else { throw error("a closing tag has no / at its end") }
        return XMLTag(
            name: String(decoding: name, as: UTF8.self), kind: isClosing ? .closing : isEmpty ? .empty : .opening)
    }

    /// Passes over attributes, which say nothing in a property list, and the end of the tag.
    ///
    /// - Returns: whether the element is empty, `/>`.
    private mutating func skipAttributes() throws(PropertyListError) -> Bool {
        while true {
            let isSpaced = next?.isXMLSpace ?? false
            skipSpace()
            if skip("/>") { return true }
            if skip(">") { return false }
            guard isSpaced, let byte = take(), byte.isXMLName else { throw error("expected the end of a tag") }
            while let byte = next, byte.isXMLName { _ = take() }
            skipSpace()
            guard skip("=") else { throw error("expected = behind the name of an attribute") }
            skipSpace()
            guard let quote = take(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw error("expected a quoted text")
            }
            try skipQuoted(quote)
        }
    }

    // MARK: Text

    /// The text up to the next tag, with references and CDATA sections resolved, and comments left out.
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

    /// A reference such as `&amp;` or `&#228;`.
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
                throw error("a reference to an unknown character")
            }
            return Character(scalar)
        }
    }

    private static let maxName = 64
    private static let maxReference = 12
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }

    /// Whether the byte may stand in a name, as far as names of a property list go.
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
