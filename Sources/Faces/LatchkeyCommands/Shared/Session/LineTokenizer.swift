// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// Splits a line of interactive mode into words (keychain-behaviour §8.1).
///
/// Words are separated by white space. A quote, single or double, is special only at the start of a
/// word, and the closing quote ends the word. A backslash makes the next character literal, inside
/// and outside of quotes. There are no comments and no other special characters.
enum LineTokenizer {
    static func split(_ line: UnsafeRawBufferPointer) -> [CommandWord] {
        var words: [CommandWord] = []
        // A word is assembled in secret memory because it may be a password. No word is longer than
        // its line.
        _ = SecretBytes(count: line.count) { word in
            var count = 0
            var isInWord = false
            var quote: UInt8?
            var isEscaped = false
            func take(_ byte: UInt8) {
                word[count] = byte
                count += 1
                isInWord = true
            }
            func end() {
                if isInWord {
                    words.append(
                        CommandWord(
                            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: word.prefix(count))))))
                }
                count = 0
                isInWord = false
                quote = nil
            }
            for byte in line {
                if isEscaped {
                    isEscaped = false
                    take(byte)
                } else if byte == backslash {
                    isEscaped = true
                } else if let open = quote {
                    if byte == open { end() } else { take(byte) }
                } else if isBlank(byte) {
                    end()
                } else if !isInWord, quotes.contains(byte) {
                    quote = byte
                    isInWord = true
                } else {
                    take(byte)
                }
            }
            end()
        }
        return words
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }

    private static let backslash = UInt8(ascii: "\\")
    private static let quotes: [UInt8] = [UInt8(ascii: "'"), UInt8(ascii: "\"")]
}
