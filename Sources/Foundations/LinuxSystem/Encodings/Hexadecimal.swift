// SPDX-License-Identifier: Apache-2.0

/// Bytes as pairs of hexadecimal digits, the high half first.
///
/// Nothing is skipped: white space, prefixes, and an odd digit at the end are not digits. For secrets there are
/// the functions that read and write the memory of the caller.
public enum Hexadecimal {
    /// The letters that a reader accepts for the values from 10 to 15.
    public enum Letters: Sendable {
        /// `a` to `f`, as ``text(_:isUppercase:)`` writes them, so that bytes have one text.
        case lowercase
        /// `a` to `f` and `A` to `F`.
        case any
    }

    // MARK: Writing

    /// Returns two digits for each byte.
    @inlinable public static func text(_ bytes: some Sequence<UInt8>, isUppercase: Bool = false) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            digits.append(digit(byte >> 4, isUppercase: isUppercase))
            digits.append(digit(byte, isUppercase: isUppercase))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the two digits of a byte.
    public static func text(_ byte: UInt8, isUppercase: Bool = false) -> String {
        text(CollectionOfOne(byte), isUppercase: isUppercase)
    }

    /// Writes the two lower-case digits of each byte to `digits`. It must be at least twice as long.
    public static func write(_ bytes: UnsafeRawBufferPointer, to digits: UnsafeMutableRawBufferPointer) {
        precondition(digits.count / 2 >= bytes.count, "the memory has no room for two digits of each byte")
        var filled = 0
        for byte in bytes {
            digits[filled] = digit(byte >> 4)
            digits[filled + 1] = digit(byte)
            filled += 2
        }
    }

    /// Returns the digit of the lower four bits.
    @inlinable public static func digit(_ value: UInt8, isUppercase: Bool = false) -> UInt8 {
        let value = value & 0xF
        return value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: isUppercase ? "A" : "a") &+ (value &- 10)
    }

    // MARK: Reading

    /// Returns the bytes of digits; nil for anything else, and for an odd number of them.
    @inlinable public static func bytes(_ digits: some Collection<UInt8>, letters: Letters = .lowercase) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var rest = digits.makeIterator()
        while let high = rest.next() {
            guard let low = rest.next(), let byte = byte(high, low, letters: letters) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Writes the bytes of digits to `bytes`. It must be half as long.
    ///
    /// - Returns: false for anything but digits, and for another number of them.
    public static func read(
        _ digits: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawBufferPointer, letters: Letters = .lowercase
    ) -> Bool {
        guard digits.count.isMultiple(of: 2), digits.count / 2 == bytes.count else { return false }
        var rest = digits.makeIterator()
        for place in bytes.indices {
            guard let high = rest.next(), let low = rest.next(), let byte = byte(high, low, letters: letters) else {
                return false
            }
            bytes[place] = byte
        }
        return true
    }

    /// Returns the byte with these two digits; nil if one of them is not a digit.
    @inlinable public static func byte(_ high: UInt8, _ low: UInt8, letters: Letters = .lowercase) -> UInt8? {
        guard let high = value(of: high, letters: letters), let low = value(of: low, letters: letters) else {
            return nil
        }
        return high << 4 | low
    }

    /// Returns the value of a digit; nil for another character.
    @inlinable public static func value(of digit: UInt8, letters: Letters = .lowercase) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F") where letters == .any: digit &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
