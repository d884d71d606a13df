// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The password alone on a line, as `-w` prints it: as it is, or in lowercase hexadecimal where any byte is unprintable.
///
/// The two cannot be told apart, on macOS neither; `-g` prints a form that can.
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
            for (index, byte) in bytes.enumerated() {
                line[index * 2] = Hexadecimal.lowercase[Int(byte >> 4)]
                line[index * 2 + 1] = Hexadecimal.lowercase[Int(byte & 15)]
            }
            line[bytes.count * 2] = newline
        }
    }

    private static let newline = UInt8(ascii: "\n")
}
