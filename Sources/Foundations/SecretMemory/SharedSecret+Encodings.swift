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
}
