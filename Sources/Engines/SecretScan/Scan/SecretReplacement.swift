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
        } else if let format = ReplaceableFormat(path: place.names.last ?? "") {
            self =
                Self.isEncoded(value)
                ? .encoded
                : format.isValue(match.whole, in: text)
                    ? .possible(match.whole.lowerBound + offset..<match.whole.upperBound + offset)
                    : .impossible(reason: "it is a part of a value, or written with escapes")
        } else {
            self = .impossible(reason: "in this format, values are not replaced")
        }
    }

    /// Whether the value is base64 of a text: a program decodes it, and would not find the reference.
    private static func isEncoded(_ value: ArraySlice<UInt8>) -> Bool {
        EncodedText.base64(value).map { $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } } ?? false
    }
}
