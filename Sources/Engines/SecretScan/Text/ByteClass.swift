// SPDX-License-Identifier: Apache-2.0

/// A set of bytes.
struct ByteClass: Sendable {
    /// One bit for each byte.
    private var bits = InlineArray<4, UInt64>(repeating: 0)

    init(_ bytes: some Sequence<UInt8>) { for byte in bytes { insert(byte) } }

    init(_ text: String) { self.init(text.utf8) }

    init(where isMember: (UInt8) -> Bool) { self.init((UInt8.min...UInt8.max).filter(isMember)) }

    private mutating func insert(_ byte: UInt8) { bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    func contains(_ byte: UInt8) -> Bool { bits[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }

    func union(_ text: String) -> ByteClass {
        var all = self
        for byte in text.utf8 { all.insert(byte) }
        return all
    }

    // MARK: Classes

    static let digits = ByteClass("0123456789")
    static let lowercase = ByteClass("abcdefghijklmnopqrstuvwxyz")
    static let uppercase = ByteClass("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    static let letters = ByteClass { lowercase.contains($0) || uppercase.contains($0) }
    static let alphanumeric = ByteClass { letters.contains($0) || digits.contains($0) }
    static let hexadecimal = ByteClass("0123456789abcdefABCDEF")
    static let lowercaseHexadecimal = ByteClass("0123456789abcdef")
    /// RFC 4648 section 6.
    static let base32 = uppercase.union("234567")
    /// Both alphabets of RFC 4648, without padding.
    static let base64 = alphanumeric.union("+/-_")
    static let word = alphanumeric.union("_")
    static let wordOrHyphen = alphanumeric.union("_-")
    static let wordHyphenDot = alphanumeric.union("_-.")
    /// Within a line.
    static let blank = ByteClass(" \t")
    static let whiteSpace = ByteClass(" \t\r\n")
    static let lineEnd = ByteClass("\r\n\0")
    static let notLineEnd = ByteClass { !lineEnd.contains($0) }
    static let quotes = ByteClass("\"'`")
    /// ASCII that has a glyph, and all bytes of other characters of UTF-8.
    static let visible = ByteClass { $0 > 0x20 && $0 != 0x7F }
}
