// SPDX-License-Identifier: Apache-2.0

/// Finds characters of UTF-16 in bytes that are not UTF-16 as a whole, such as memory of a program.
enum WideRuns {
    /// The minimum number of characters.
    private static let minLength = 8

    /// Calls `body` with the offset and the bytes of each run of visible characters, each beside a zero byte.
    static func forEach(in text: ScannedText, _ body: (_ offset: Int, _ characters: [UInt8]) -> Void) {
        var offset = 0
        while offset < text.count {
            // A visible character and a zero begin a run; in big-endian form, the zero is the one before.
            guard isVisible(text[at: offset]), text[at: offset + 1] == 0 else {
                offset += 1
                continue
            }
            var (characters, next) = ([UInt8](), offset)
            while isVisible(text[at: next]), next + 1 >= text.count || text[at: next + 1] == 0 {
                characters.append(text[at: next])
                next += 2
            }
            // The last character of a big-endian run has no zero behind it.
            if isVisible(text[at: next]), offset > 0, text[at: offset - 1] == 0 { characters.append(text[at: next]) }
            if characters.count >= minLength { body(offset, characters) }
            offset = next
        }
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }
}
