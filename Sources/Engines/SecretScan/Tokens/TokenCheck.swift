// SPDX-License-Identifier: Apache-2.0

internal import Decompression
internal import LinuxSystem

/// How a token of the right form is told from an example, and from a text with a typing error.
enum TokenCheck: Sendable {
    /// The body is no filler, such as `xxxx` or `EXAMPLE`.
    case noFiller
    /// The last six characters are the CRC-32 of the body before them, in base 62 (GitHub, npm).
    case crc32Base62
    /// The last eight characters are a CRC-32 of all before their separator, in hexadecimal (Grafana).
    case crc32Hexadecimal
    /// The last six characters are the check sum of BIP 173 (age).
    case bech32

    /// - Parameters:
    ///   - token: the whole token.
    ///   - body: the token without its prefix.
    func accepts(_ token: ArraySlice<UInt8>, body: ArraySlice<UInt8>) -> Bool {
        guard !Filler.isFiller(body) else { return false }
        switch self {
        case .noFiller: return true
        case .crc32Base62: return Self.base62(CRC32.value(of: Array(body.dropLast(6)))) == Array(body.suffix(6))
        case .crc32Hexadecimal:
            let sum = CRC32.value(of: Array(token.dropLast(9)))
            let text = String(decoding: token.suffix(8), as: UTF8.self)
            return [sum, sum.byteSwapped].contains { Hexadecimal.text($0.bigEndianBytes) == text }
        case .bech32: return Self.hasBech32Sum(token.map(\.lowercased))
        }
    }

    /// Six digits, the highest first.
    static func base62(_ number: UInt32) -> [UInt8] {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        var (rest, text) = (Int(number), [UInt8]())
        for _ in 0..<6 {
            text.append(digits[rest % 62])
            rest /= 62
        }
        return text.reversed()
    }

    /// - Parameter text: lowercase.
    private static func hasBech32Sum(_ text: [UInt8]) -> Bool {
        guard let separator = text.lastIndex(of: UInt8(ascii: "1")) else { return false }
        let name = text.prefix(separator)
        var values = name.map { $0 >> 5 } + [0] + name.map { $0 & 31 }
        for byte in text.dropFirst(separator + 1) {
            guard let value = bech32Alphabet.firstIndex(of: byte) else { return false }
            values.append(UInt8(value))
        }
        return bech32Remainder(values) == 1
    }

    static let bech32Alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// BIP 173, section "Checksum".
    static func bech32Remainder(_ values: [UInt8]) -> UInt32 {
        let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        return values.reduce(1) { sum, value in
            let top = sum >> 25
            var next = (sum & 0x1ff_ffff) << 5 ^ UInt32(value)
            for (bit, term) in generator.enumerated() where top >> UInt32(bit) & 1 == 1 { next ^= term }
            return next
        }
    }
}

/// Texts that stand in documentation in the place of a secret.
enum Filler {
    /// Whether the text is a filler: it says so, repeats itself, or counts.
    static func isFiller(_ text: some Collection<UInt8>) -> Bool {
        let text = text.map(\.lowercased)
        if hasFewCharacters(text) || hasSequence(text) { return true }
        return words.contains { has($0, in: text) }
    }

    private static func has(_ word: [UInt8], in text: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        return (0...text.count - word.count).contains { text[$0] == word[0] && text[$0...].starts(with: word) }
    }

    private static let words: [[UInt8]] = [
        "example", "xxxx", "your_", "your-", "yourt", "yourk", "yours", "yourp", "youra", "placeholder", "dummy",
        "redacted", "****", "....", "____", "insert", "replace", "changeme", "fake", "sample",
    ].map { Array($0.utf8) }

    private static func hasFewCharacters(_ text: [UInt8]) -> Bool {
        text.count >= 12 && Set(text).count < 6
    }

    /// Whether most of the text counts upwards or downwards, as `12345678` and `abcdef` do, or repeats one character.
    private static func hasSequence(_ text: [UInt8]) -> Bool {
        var (run, longest, step) = (1, 1, 0)
        for (first, second) in zip(text, text.dropFirst()) {
            let difference = Int(second) - Int(first)
            if abs(difference) <= 1, difference == step || run == 1 {
                (run, step) = (run + 1, difference)
            } else {
                run = abs(difference) <= 1 ? 2 : 1
                step = difference
            }
            longest = max(longest, run)
        }
        return longest >= 7 && longest * 2 >= text.count || longest >= 10
    }
}
