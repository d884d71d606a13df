// SPDX-License-Identifier: Apache-2.0

/// Base 64 with the alphabet for URLs and file names, without padding (RFC 4648, section 5).
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            var (held, heldBits, filled) = (UInt32(0), 0, 0)
            for byte in bytes {
                held = held << 8 | UInt32(byte)
                heldBits += 8
                while heldBits >= 6 {
                    heldBits -= 6
                    text[filled] = alphabet[Int(held >> UInt32(heldBits) & 63)]
                    filled += 1
                }
            }
            if heldBits > 0 {
                text[filled] = alphabet[Int(held << UInt32(6 - heldBits) & 63)]
                filled += 1
            }
            return filled
        }
    }

    /// Decodes what ``encode(_:)`` writes; nil for anything else.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(decodedCount(text.count))
        var (held, heldBits) = (UInt32(0), 0)
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            held = held << 6 | UInt32(value)
            heldBits += 6
            guard heldBits >= 8 else { continue }
            heldBits -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(heldBits)))
        }
        // Other bits would give one file several names.
        guard held & (1 << UInt32(heldBits) - 1) == 0 else { return nil }
        return bytes
    }

    /// The number of bytes that so many characters stand for.
    static func decodedCount(_ characters: Int) -> Int { characters * 3 / 4 }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
