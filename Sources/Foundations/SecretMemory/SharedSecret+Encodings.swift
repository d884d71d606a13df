// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Secrets as text. Input and output are only in secret memory.
extension SharedSecret {
    /// Returns the bytes of hexadecimal digits, with letters of either case; nil for anything else.
    public static func ofHexadecimal(_ digits: UnsafeRawBufferPointer) -> SharedSecret? {
        var isValid = false
        let bytes = SecretBytes(count: digits.count / 2) { isValid = Hexadecimal.read(digits, to: $0, letters: .any) }
        return isValid ? SharedSecret(bytes) : nil
    }

    /// Returns the bytes of a text in padded base64; nil for anything else.
    ///
    /// - Parameter skipsWhiteSpace: whether spaces, tabs and line ends may stand anywhere.
    public static func ofBase64(_ text: UnsafeRawBufferPointer, skipsWhiteSpace: Bool = false) -> SharedSecret? {
        let buffer = SecretBuffer(count: Base64.maxByteCount(text.count))
        return buffer.withUnsafeMutableBytes { memory in
            Base64.read(text, to: memory, skipsWhiteSpace: skipsWhiteSpace).map { count in
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: memory.prefix(count))))
            }
        }
    }

    /// The text in padded base64.
    public var base64: SharedSecret {
        withUnsafeBytes { bytes in
            SharedSecret(
                SecretBytes(count: Base64.characterCount(bytes.count)) { text in Base64.write(bytes, to: text) })
        }
    }
}
