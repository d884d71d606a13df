// SPDX-License-Identifier: Apache-2.0

/// Why a ``BlockCipher`` did not do what it was asked.
public enum CipherError: Error, Sendable {
    /// libcrypto does not have the cipher, or a key or an initialization vector has the wrong size.
    case unsupported
    /// The output needs `needed` bytes.
    case outputTooSmall(needed: Int)
    /// The message is longer than numbers go.
    case tooLong
    /// The message must be a multiple of the block size.
    case unaligned
    /// The plaintext does not end in padding: the key is wrong, or the ciphertext was changed.
    case badPadding
    /// The message has ended; only another one can be begun.
    case finished
    case failed(OpenSSLError)
}
