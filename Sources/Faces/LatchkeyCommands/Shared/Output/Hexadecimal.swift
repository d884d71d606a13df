// SPDX-License-Identifier: Apache-2.0

/// Bytes as pairs of hexadecimal digits.
enum Hexadecimal {
    static let uppercase = Array("0123456789ABCDEF".utf8)
    static let lowercase = Array("0123456789abcdef".utf8)

    /// Returns the bytes as lowercase digits.
    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [lowercase[Int($0 >> 4)], lowercase[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the byte with these two digits; nil if one of them is not a digit.
    static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard let high = digit(high), let low = digit(low) else { return nil }
        return high << 4 | low
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
