// SPDX-License-Identifier: Apache-2.0

/// The value of an attribute, in the type it was given.
public enum AttributeValue: Hashable, Sendable {
    case string(String)
    case data([UInt8])
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)

    /// The bytes by which values are compared and searched (keychain-behaviour §1.3): two values with equal bytes are the same value,
    /// whatever their types.
    ///
    /// A string is its UTF-8, data is itself, a number its four little-endian bytes (eight where four do not hold it), a date the
    /// eight little-endian bytes of its IEEE 754 double.
    public var canonicalBytes: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number):
            Int32(exactly: number).map { Self.littleEndian($0) } ?? Self.littleEndian(number)
        case .date(let seconds):
            // Zero has two encodings; dates have one.
            Self.littleEndian(seconds == 0 ? 0 : seconds.bitPattern)
        }
    }

    /// Whether both have the same type and the same bytes. Swift's own comparison takes composed and decomposed text for equal, which are
    /// two different values to a keychain.
    public static func == (one: AttributeValue, other: AttributeValue) -> Bool {
        switch (one, other) {
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.data(let one), .data(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.date(let one), .date(let other)): one == other
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalBytes)
    }

    /// Whether both are the same value to a search.
    public func matches(_ other: AttributeValue) -> Bool {
        self == other || canonicalBytes == other.canonicalBytes
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

extension AttributeValue {
    /// The text of a string, or of data that is UTF-8.
    public var text: String? {
        switch self {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number, .date: nil
        }
    }
}
