// SPDX-License-Identifier: Apache-2.0

/// The texts of a key file (Desktop Entry Specification, as GLib writes it).
enum KeyFileText {
    /// Returns the name in `[NAME]`; nil for another line.
    static func group(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        guard line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]"), line.count > 2 else { return nil }
        return line.dropFirst().dropLast()
    }

    /// Returns a decimal number; nil for another text, or for more than 64 bits.
    static func number(_ text: some Collection<UInt8>) -> UInt64? {
        guard text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt64(String(decoding: text, as: UTF8.self))
    }

    /// Returns the text that `\s`, `\n`, `\t`, `\r` and `\\` stand for; another backslash stands for itself. nil if
    /// it is not UTF-8.
    static func unescaped(_ text: some Collection<UInt8>) -> String? {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text.drop(while: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) {
            if isEscaped {
                let meaning = escapes[byte]
                if meaning == nil { result.append(UInt8(ascii: "\\")) }
                result.append(meaning ?? byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                result.append(byte)
            }
        }
        if isEscaped { result.append(UInt8(ascii: "\\")) }
        return String(validating: result, as: UTF8.self)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "s"): UInt8(ascii: " "), UInt8(ascii: "n"): UInt8(ascii: "\n"),
        UInt8(ascii: "t"): UInt8(ascii: "\t"), UInt8(ascii: "r"): UInt8(ascii: "\r"),
        UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    ]
}
