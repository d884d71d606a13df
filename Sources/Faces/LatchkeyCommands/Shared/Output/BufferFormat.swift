// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// The format of bytes in the output of macOS's `security` (keychain-behaviour §8.3).
///
/// A value of printable bytes without a backslash is printed as `"text"`. Any other value is
/// printed as `0x` and uppercase hexadecimal digits; if it has a printable byte, the text follows,
/// with the other bytes in octal: `0xC3A461  "\303\244a"`. Nothing is printed for an empty value.
enum BufferFormat {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a line with `prefix` and a secret in the same format.
    static func secretLine(_ prefix: String, _ secret: SharedSecret?) -> SecretBytes {
        // Reserves the maximum size (two digits and up to four characters per byte), because an
        // array that grows leaves copies of the secret.
        var text: [UInt8] = []
        text.reserveCapacity(prefix.utf8.count + (secret?.count ?? 0) * 6 + 8)
        defer { text.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        text += prefix.utf8
        secret?.withUnsafeBytes { append($0, to: &text) }
        text.append(UInt8(ascii: "\n"))
        return SecretBytes(count: text.count) { $0.copyBytes(from: text) }
    }

    /// Returns whether the byte is printed unchanged: ASCII 0x20 to 0x7E.
    static func isPrintable(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte)
    }

    private static func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        if bytes.allSatisfy(isPlain) {
            quote(bytes, into: &text)
            return
        }
        text += "0x".utf8
        for byte in bytes {
            text.append(Hexadecimal.digit(byte >> 4, isUppercase: true))
            text.append(Hexadecimal.digit(byte, isUppercase: true))
        }
        text.append(UInt8(ascii: " "))
        guard bytes.contains(where: isPrintable) else { return }
        text.append(UInt8(ascii: " "))
        quote(bytes, into: &text)
    }

    private static func quote(_ bytes: some Collection<UInt8>, into text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in bytes {
            if isPlain(byte) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "\\"))
                for shift in [6, 3, 0] as [UInt8] { text.append(UInt8(ascii: "0") + (byte >> shift & 7)) }
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        isPrintable(byte) && byte != UInt8(ascii: "\\")
    }
}
