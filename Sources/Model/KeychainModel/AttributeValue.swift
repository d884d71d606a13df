// SPDX-License-Identifier: Apache-2.0

/// The value of an attribute, in the type that the caller used.
public enum AttributeValue: Hashable, Sendable {
    /// Text in its given form.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// An integer; 0 and 1 for a Boolean.
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)

    /// The bytes by which values are compared and searched (keychain-behaviour §1.3). Two values with equal bytes are
    /// the same value, even if their types differ.
    ///
    /// A string is encoded as UTF-8, data as itself, a number as four little-endian bytes (eight if
    /// it does not fit into four), a date as the eight little-endian bytes of its IEEE 754 double.
    public var canonicalBytes: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number):
            Int32(exactly: number).map { Self.littleEndian($0) } ?? Self.littleEndian(number)
        case .date(let seconds):
            // Zero and negative zero have different encodings, but are the same date.
            Self.littleEndian(seconds == 0 ? 0 : seconds.bitPattern)
        }
    }

    /// Whether both have the same type and the same bytes. Swift's `==` treats composed and
    /// decomposed text as equal, but these are different values in a keychain.
    public static func == (one: AttributeValue, other: AttributeValue) -> Bool {
        switch (one, other) {
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.data(let one), .data(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.date(let one), .date(let other)): one == other
        default: false
        }
    }

    /// Hashes the value; equal values have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalBytes)
    }

    /// Whether a search treats both as the same value.
    public func matches(_ other: AttributeValue) -> Bool {
        self == other || canonicalBytes == other.canonicalBytes
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

extension AttributeValue {
    /// The text of a string, or of data that is valid UTF-8; otherwise nil.
    public var text: String? {
        switch self {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number, .date: nil
        }
    }
}
