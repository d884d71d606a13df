// SPDX-License-Identifier: Apache-2.0

/// An encoding of text with two bytes a character.
enum TextEncoding: Sendable {
    case utf16LittleEndian, utf16BigEndian

    /// - Parameter head: the first bytes of a text.
    /// - Returns: nil if they are not in one of these encodings.
    init?(_ head: ArraySlice<UInt8>) {
        guard let first = head.first, first >= 0xFE || head.prefix(128).contains(0) else { return nil }
        let bytes = Array(head.prefix(128))
        if bytes.starts(with: [0xFF, 0xFE]) {
            self = .utf16LittleEndian
        } else if bytes.starts(with: [0xFE, 0xFF]) {
            self = .utf16BigEndian
        } else {
            // Most characters of ASCII: each second byte is zero, and no other one.
            let even = bytes.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            let odd = bytes.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            guard odd.count >= 4 else { return nil }
            if !even.contains(0), odd.count(where: { $0 == 0 }) * 10 >= odd.count * 9 {
                self = .utf16LittleEndian
            } else if !odd.contains(0), even.count(where: { $0 == 0 }) * 10 >= even.count * 9 {
                self = .utf16BigEndian
            } else {
                return nil
            }
        }
    }

    /// The text in UTF-8. Invalid characters are replaced.
    func utf8(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var (units, previous) = ([UInt16](), UInt8?.none)
        units.reserveCapacity(bytes.count / 2)
        for byte in bytes {
            guard let first = previous else {
                previous = byte
                continue
            }
            units.append(
                self == .utf16LittleEndian ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte))
            previous = nil
        }
        return Array(String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self).utf8)
    }
}
