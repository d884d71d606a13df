// SPDX-License-Identifier: Apache-2.0

/// Hides the exact length of a row half inside its seal.
///
/// The padded plaintext is the length of the content in four big-endian bytes, the content, and zeros. Its length is a
/// multiple of 64 bytes up to 1 KiB; above, it has the steps of Padmé (Nikitin et al., "Reducing Metadata Leakage from
/// Encrypted Files and Communication with PURBs", 2019, §4.2). They add at most 12 % and reveal only the order of
/// magnitude.
enum Padding {
    static let prefixLength = 4

    /// Returns the length of the padded plaintext for a content of `count` bytes.
    static func paddedLength(for count: Int) -> Int {
        let length = count + prefixLength
        guard length > 1024 else { return (length + 63) / 64 * 64 }
        let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
        let sizeOfExponent = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = 1 << (exponent - sizeOfExponent) - 1
        return (length + mask) & ~mask
    }

    /// Returns the content of a padded plaintext.
    static func content(of padded: UnsafeRawBufferPointer) throws(RowDamage) -> UnsafeRawBufferPointer {
        guard padded.count >= prefixLength else { throw RowDamage("the padding is truncated") }
        let count = Int(padded.loadUnaligned(as: UInt32.self).bigEndian)
        guard paddedLength(for: count) == padded.count else {
            throw RowDamage("the padding has the wrong length for \(count) bytes")
        }
        return UnsafeRawBufferPointer(rebasing: padded[prefixLength..<prefixLength + count])
    }
}
