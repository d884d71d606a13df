// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Decodes a text as far as it is one; alphabets and padding may be those of any variant.
enum EncodedText {
    /// Decodes base64 in one of its alphabets, with or without padding.
    static func base64(_ text: some Collection<UInt8>) -> [UInt8]? {
        var characters = text.filter { $0 != UInt8(ascii: "=") }
        if characters.count % 4 == 1 { return nil }
        for (index, character) in characters.enumerated() {
            if character == UInt8(ascii: "+") { characters[index] = UInt8(ascii: "-") }
            if character == UInt8(ascii: "/") { characters[index] = UInt8(ascii: "_") }
        }
        return Base64.bytes(characters, .url)
    }

    static func hexadecimal(_ text: some Collection<UInt8>) -> [UInt8]? {
        Hexadecimal.bytes(Array(text), letters: .any)
    }

    /// Replaces `%XX`; other characters stay.
    static func percent(_ text: ScannedText, _ range: Range<Int>) -> [UInt8] {
        var (decoded, position) = ([UInt8](), range.lowerBound)
        while position < range.upperBound {
            if text[at: position] == UInt8(ascii: "%"), position + 2 < range.upperBound,
                let byte = hexadecimal(text.part(position + 1..<position + 3))
            {
                decoded += byte
                position += 3
            } else {
                decoded.append(text[at: position] == UInt8(ascii: "+") ? 0x20 : text[at: position])
                position += 1
            }
        }
        return decoded
    }
}
