// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// The password alone on a line, as `-w` prints it: unchanged, or in lowercase hexadecimal if any
/// byte is not printable.
///
/// The two forms cannot be distinguished, as on macOS. `-g` prints an unambiguous form.
enum PlainPassword {
    static func line(_ secret: SharedSecret?) -> SecretBytes {
        guard let secret else { return SecretBytes([newline]) }
        return secret.withUnsafeBytes { bytes in
            guard bytes.allSatisfy(BufferFormat.isPrintable) else { return hexadecimalLine(bytes) }
            return SecretBytes(count: bytes.count + 1) { line in
                line.copyMemory(from: bytes)
                line[bytes.count] = newline
            }
        }
    }

    private static func hexadecimalLine(_ bytes: UnsafeRawBufferPointer) -> SecretBytes {
        SecretBytes(count: bytes.count * 2 + 1) { line in
            Hexadecimal.write(bytes, to: line)
            line[bytes.count * 2] = newline
        }
    }

    private static let newline = UInt8(ascii: "\n")
}
