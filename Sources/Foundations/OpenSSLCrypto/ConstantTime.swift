// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Comparisons with a time that says nothing about the content.
public enum ConstantTime {
    /// Whether both contain the same bytes. The time depends on their lengths only.
    public static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
        return CRYPTO_memcmp(start, otherStart, one.count) == 0
    }
}
