// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Textual encodings (RFC 7468): a line of BEGIN, base64 in lines, and a line of END. ``PEMBlocks`` finds them.
public enum PEMText {
    /// Returns the block of bytes that are not secret.
    public static func of(_ content: [UInt8], label: String = "CERTIFICATE") -> String {
        of(SharedSecret(copying: content), label: label).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the block of a secret.
    public static func of(_ content: SharedSecret, label: String, lineLength: Int = 64) -> SharedSecret {
        let encoded = content.base64
        let (first, last) = ("-----BEGIN \(label)-----\n", "-----END \(label)-----\n")
        let lines = (encoded.count + lineLength - 1) / lineLength
        return SharedSecret(
            SecretBytes(count: first.utf8.count + encoded.count + lines + last.utf8.count) { buffer in
                var rest = buffer[...]
                func write(_ bytes: some Collection<UInt8>) {
                    UnsafeMutableRawBufferPointer(rebasing: rest.prefix(bytes.count)).copyBytes(from: bytes)
                    rest = rest.dropFirst(bytes.count)
                }
                write(first.utf8)
                encoded.withUnsafeBytes { encoded in
                    var left = encoded[...]
                    while !left.isEmpty {
                        write(left.prefix(lineLength))
                        write("\n".utf8)
                        left = left.dropFirst(lineLength)
                    }
                }
                write(last.utf8)
            })
    }
}
