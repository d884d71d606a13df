// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// How macOS's `security` prints bytes (keychain-behaviour §8.3).
///
/// Printable bytes without a backslash are `"text"`; anything else is `0x` and uppercase hexadecimal, followed, where any byte is
/// printable, by the text with the other bytes in octal: `0xC3A461  "\303\244a"`. Nothing is printed as nothing.
enum BufferFormat {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The same for a secret, with `prefix` before and a line end behind it.
    static func secretLine(_ prefix: String, _ secret: SharedSecret?) -> SecretBytes {
        // Room for all of it (two digits and up to four characters a byte), so that nothing is copied when the array grows.
        var text: [UInt8] = []
        text.reserveCapacity(prefix.utf8.count + (secret?.count ?? 0) * 6 + 8)
        defer { text.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        text += prefix.utf8
        secret?.withUnsafeBytes { append($0, to: &text) }
        text.append(UInt8(ascii: "\n"))
        return SecretBytes(count: text.count) { $0.copyBytes(from: text) }
    }

    /// Whether the byte is printed as it is: ASCII from the blank to the tilde.
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
            text.append(Hexadecimal.uppercase[Int(byte >> 4)])
            text.append(Hexadecimal.uppercase[Int(byte & 15)])
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
