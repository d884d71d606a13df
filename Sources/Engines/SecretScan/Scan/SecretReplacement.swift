// SPDX-License-Identifier: Apache-2.0

/// Whether another text can take the place of a secret in its file, so that the file keeps its format.
public enum SecretReplacement: Hashable, Sendable {
    /// The bytes of the file that the other text takes the place of: the secret, or the whole URL of a password.
    case possible(Range<Int>)
    /// - Parameter reason: words behind "because", such as "it is in code".
    case impossible(reason: String)

    static let document = impossible(reason: "it is in a document in the file")
    static let binary = impossible(reason: "the file is not text")
    static let encoded = impossible(reason: "it is encoded")

    /// - Parameters:
    ///   - offset: the position of the text's first byte in the file; nil if the text is not a part of the file's bytes.
    init(_ match: TextScanner.Match, in text: ScannedText, _ context: TextContext, _ place: ScanPlace, offset: Int?) {
        guard place.names.count == 1 else {
            self = .document
            return
        }
        guard let offset, place.encodings.isEmpty else {
            self = .encoded
            return
        }
        let value = text.part(match.whole)
        if context == .source {
            self = .impossible(reason: "it is in code")
        } else if context == .binary {
            self = .binary
        } else if !value.allSatisfy({ $0 >= 0x20 }) {
            self = .impossible(reason: "it has several lines")
        } else if value.contains(UInt8(ascii: "\\")) || Self.hasEntity(match.whole, in: text) {
            self = .impossible(reason: "it is written with escapes")
        } else {
            self = .possible(match.whole.lowerBound + offset..<match.whole.upperBound + offset)
        }
    }

    /// Whether there is a reference to a character of XML, such as `&amp;`.
    private static func hasEntity(_ value: Range<Int>, in text: ScannedText) -> Bool {
        var start = text.first(of: entityStart, from: value.lowerBound, before: value.upperBound)
        while start < value.upperBound {
            let end = text.end(of: entityName, from: start + 1, limit: 10)
            if end > start + 1, end < value.upperBound, text[at: end] == UInt8(ascii: ";") { return true }
            start = text.first(of: entityStart, from: start + 1, before: value.upperBound)
        }
        return false
    }

    private static let entityStart = ByteClass("&")
    private static let entityName = ByteClass.alphanumeric.union("#")
}
