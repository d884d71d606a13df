// SPDX-License-Identifier: Apache-2.0

/// Why an operation of ``BlockCipher`` failed.
public enum CipherError: Error, Sendable {
    /// libcrypto does not have the cipher, or a key or an initialization vector has the wrong size.
    case unsupported
    /// The output needs `needed` bytes.
    case outputTooSmall(needed: Int)
    /// The length of the message overflows.
    case tooLong
    /// The message must be a multiple of the block size.
    case unaligned
    /// The plaintext does not end with valid padding: the key is wrong, or the ciphertext was
    /// changed.
    case badPadding
    /// The message has ended. Only a new message can be started.
    case finished
    case failed(OpenSSLError)
}
