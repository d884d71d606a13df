// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The pattern of `latchkey list`: `SERVICE` or `SERVICE/ACCOUNT`, with a server or a label in the place of the
/// service. `*` stands for any text and `?` for one character. `%2A` and `%3F` are the characters themselves.
struct ItemPattern {
    private let service: TextPattern
    /// nil for any account.
    private let account: TextPattern?

    /// - Throws: errSecParam, as ``ItemName/init(parsing:)`` does.
    init(parsing text: String) throws(CommandFailure) {
        let parts = try ItemName.parts(of: text)
        service = try TextPattern(parts.service, in: text)
        guard let part = parts.account else {
            account = nil
            return
        }
        account = try TextPattern(part, in: text)
    }

    /// Returns whether an item has this name.
    func matches(_ name: ItemName) -> Bool {
        service.matches(name.service) && (account?.matches(name.account ?? []) ?? true)
    }

    /// The attributes that the matching items of the class have, for one search each.
    func attributes(of itemClass: ItemClass) -> [[ItemAttribute: AttributeValue]] {
        var attributes: [ItemAttribute: AttributeValue] = [:]
        attributes[.account] = account?.value
        guard let value = service.value else { return [attributes] }
        let own = ItemTarget.serviceAttribute(of: itemClass)
        let named = attributes.merging([own: value]) { $1 }
        guard !value.canonicalBytes.isEmpty else { return [named] }
        return [named, attributes.merging([own: .string(""), .label: value]) { $1 }]
    }
}

/// A text with wildcards: `*` stands for any text and `?` for one character.
enum TextPattern {
    case exact([UInt8])
    case wildcards([Token])

    /// A text without escapes.
    init(_ text: String) {
        let scalars = text.unicodeScalars
        self =
            scalars.contains(where: Token.isWildcard)
            ? .wildcards(scalars.map { Token($0) }) : .exact(Array(text.utf8))
    }

    /// A part of a name, with its escapes.
    fileprivate init(_ part: Substring, in text: String) throws(CommandFailure) {
        guard part.unicodeScalars.contains(where: Token.isWildcard) else {
            self = .exact(try ItemName.bytes(of: part, in: text))
            return
        }
        var tokens: [Token] = []
        for piece in Self.pieces(part) {
            if let first = piece.unicodeScalars.first, Token.isWildcard(first) {
                tokens.append(Token(first))
            } else {
                let bytes = try ItemName.bytes(of: piece, in: text)
                tokens += String(decoding: bytes, as: UTF8.self).unicodeScalars.map(Token.character)
            }
        }
        self = .wildcards(tokens)
    }

    /// The value of an exact text, for the search.
    var value: AttributeValue? {
        if case .exact(let bytes) = self { CommandWord(bytes: bytes).attributeValue } else { nil }
    }

    func matches(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .exact(let expected): expected == bytes
        case .wildcards(let tokens):
            Token.match(tokens, Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
        }
    }

    /// Splits a text before and after each wildcard.
    private static func pieces(_ text: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var rest = text
        while let wildcard = rest.unicodeScalars.firstIndex(where: Token.isWildcard) {
            let next = rest.unicodeScalars.index(after: wildcard)
            if wildcard > rest.startIndex { pieces.append(rest[..<wildcard]) }
            pieces.append(rest[wildcard..<next])
            rest = rest[next...]
        }
        return rest.isEmpty ? pieces : pieces + [rest]
    }

    enum Token: Equatable {
        case character(Unicode.Scalar)
        case anyCharacter, anyText

        init(_ scalar: Unicode.Scalar) {
            switch scalar {
            case "*": self = .anyText
            case "?": self = .anyCharacter
            default: self = .character(scalar)
            }
        }

        static func isWildcard(_ scalar: Unicode.Scalar) -> Bool { scalar == "*" || scalar == "?" }

        /// Compares from left to right. After a mismatch, only the last `*` takes one character
        /// more, so that the time is at most the product of the lengths.
        static func match(_ pattern: [Token], _ text: [Unicode.Scalar]) -> Bool {
            var (position, next) = (0, 0)
            var retry: (pattern: Int, text: Int)?
            while position < text.count {
                if next < pattern.count, pattern[next] == .anyText {
                    next += 1
                    retry = (next, position)
                } else if next < pattern.count,
                    pattern[next] == .anyCharacter || pattern[next] == .character(text[position])
                {
                    next += 1
                    position += 1
                } else if let last = retry {
                    retry = (last.pattern, last.text + 1)
                    (next, position) = (last.pattern, last.text + 1)
                } else {
                    return false
                }
            }
            return pattern[next...].allSatisfy { $0 == .anyText }
        }
    }
}
