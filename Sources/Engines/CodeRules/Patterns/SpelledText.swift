// SPDX-License-Identifier: Apache-2.0

/// Arrays of numbers that spell a text.
enum SpelledText {
    /// Whether the bytes are a text, and not a table of numbers.
    static func isSpelled(by bytes: [UInt8]) -> Bool {
        let letters = bytes.count { 0x61...0x7A ~= $0 | 0x20 }
        return bytes.allSatisfy { 0x20...0x7E ~= $0 } && letters * 2 > bytes.count && Set(bytes).count > 4
            && bytes != bytes.sorted()
    }

    /// Whether at least eight numbers behind the first bracket of a line spell a text.
    static func isSpelled(in code: Substring) -> Bool {
        // Eight numbers have seven separators.
        guard code.utf8.count(where: { $0 == UInt8(ascii: ",") }) >= 7,
            let open = code.firstIndex(where: { "{[(".contains($0) })
        else { return false }
        let numbers = code[open...].split { !$0.isHexDigit && $0 != "x" }.map { text in
            text.hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
        }
        let bytes = numbers.compactMap { $0 }
        return bytes.count >= 8 && bytes.count * 10 >= numbers.count * 9 && isSpelled(by: bytes)
    }
}
