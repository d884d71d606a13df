// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Moves over values of CBOR (RFC 8949) without decoding them. Any bytes are accepted.
struct CBORReader {
    private var fields: FieldReader<ArraySlice<UInt8>>

    init(_ bytes: ArraySlice<UInt8>) {
        fields = FieldReader(bytes)
    }

    /// Reads the beginning of a value: its major type, and its number or length. Nil if the bytes
    /// end, if the length is indefinite, or if it exceeds `Int.max`.
    mutating func head() -> (type: UInt8, number: Int)? {
        guard let first: UInt8 = fields.number() else { return nil }
        let (type, short) = (first >> 5, first & 0x1F)
        guard short >= 24 else { return (type, Int(short)) }
        guard short <= 27 else { return nil }
        return fields.number(width: 1 << Int(short - 24)).flatMap { Int(exactly: $0) }.map { (type, $0) }
    }

    /// Reads a byte string; nil if the next value is another one.
    mutating func bytes() -> ArraySlice<UInt8>? {
        guard let (type, number) = head(), type == Self.byteString else { return nil }
        return fields.bytes(number)
    }

    /// Skips one value with everything that it contains; false if the bytes end within it, or if
    /// they could not contain the number of values that is announced.
    ///
    /// Every step uses at least one byte, so that it ends for any announced number of values.
    mutating func skip() -> Bool {
        var left = 1
        while left > 0 {
            left -= 1
            guard let (type, number) = head() else { return false }
            switch type {
            case Self.byteString, Self.textString:
                guard fields.bytes(number) != nil else { return false }
            case Self.array, Self.map:
                // A value has at least one byte.
                guard number <= fields.remaining else { return false }
                left += type == Self.map ? number + number : number
            case Self.tag: left += 1
            default: break
            }
        }
        return true
    }

    static let unsigned: UInt8 = 0
    static let byteString: UInt8 = 2
    static let textString: UInt8 = 3
    static let array: UInt8 = 4
    static let map: UInt8 = 5
    static let tag: UInt8 = 6
}
