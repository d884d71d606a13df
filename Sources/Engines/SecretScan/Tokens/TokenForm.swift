// SPDX-License-Identifier: Apache-2.0

/// The published form of a token: a prefix that no other text has, and the form of the rest.
struct TokenForm: Sendable {
    enum Part: Sendable {
        /// As many members as there are; the number of them must be in the range.
        case run(ByteClass, ClosedRange<Int>)
        case text(StaticString)

        static func run(_ members: ByteClass, _ count: Int) -> Part { .run(members, count...count) }
    }

    let kind: SecretKind
    /// The text to search for: a character before the token or none, and the start of the token.
    let literal: [UInt8]
    /// The length of the part of ``literal`` before the token.
    private let lead: Int
    private let parts: [Part]
    private let check: TokenCheck

    init(_ kind: SecretKind, _ prefix: String, _ parts: Part..., check: TokenCheck = .noFiller) {
        self.init(kind, lead: "", prefix, parts, check)
    }

    private init(_ kind: SecretKind, lead: String, _ prefix: String, _ parts: [Part], _ check: TokenCheck) {
        (self.kind, self.lead, self.parts, self.check) = (kind, lead.utf8.count, parts, check)
        literal = Array((lead + prefix).utf8)
    }

    /// The forms of a short prefix. It is searched for together with the characters that usually stand before it.
    static func led(_ kind: SecretKind, _ prefix: String, _ parts: Part...) -> [TokenForm] {
        ["\"", "'", "=", " ", ":", ">", "\n"].map { TokenForm(kind, lead: $0, prefix, parts, .noFiller) }
    }

    /// Returns the range of the token if the text begins with it, so that nothing stands before it.
    func matchAtStart(of text: ScannedText) -> Range<Int>? {
        lead > 0 && text.part(0..<literal.count - lead).elementsEqual(literal.dropFirst(lead))
            ? match(in: text, at: -lead) : nil
    }

    /// Returns the range of the token at a position where the literal is; nil if it has another form, a wrong check sum,
    /// or is only an example.
    func match(in text: ScannedText, at position: Int) -> Range<Int>? {
        // A form that begins with a point has a name of its own before it.
        let hasName = literal.first == UInt8(ascii: ".")
        let start = hasName ? text.start(of: .alphanumeric, to: position, limit: 20) : position + lead
        guard hasName || !isInsideWord(text, start) else { return nil }
        let bodyStart = position + literal.count
        var (end, last) = (bodyStart, ByteClass.word)
        for part in parts {
            switch part {
            case .text(let expected):
                guard text.has(expected, at: end) else { return nil }
                end += expected.utf8CodeUnitCount
            case .run(let members, let counts):
                let runEnd = text.end(of: members, from: end, limit: counts.upperBound)
                guard counts.contains(runEnd - end) else { return nil }
                (end, last) = (runEnd, members)
            }
        }
        // A longer text is another one.
        guard !last.contains(text[at: end]) || !ByteClass.wordOrHyphen.contains(text[at: end]) else { return nil }
        let token = start..<end
        return check.accepts(text.part(token), body: text.part(bodyStart..<end)) ? token : nil
    }

    /// Whether the prefix is the middle of a longer word. An escape such as `\n` or `%3D` is no part of the word.
    private func isInsideWord(_ text: ScannedText, _ position: Int) -> Bool {
        guard ByteClass.alphanumeric.contains(text[at: position - 1]) else { return false }
        if text[at: position - 2] == UInt8(ascii: "\\") { return false }
        let isEscape =
            text[at: position - 3] == UInt8(ascii: "%") && ByteClass.hexadecimal.contains(text[at: position - 2])
            && ByteClass.hexadecimal.contains(text[at: position - 1])
        return !isEscape
    }
}
