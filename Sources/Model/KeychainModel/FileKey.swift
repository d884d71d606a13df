// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The key of a protected file, and the record for the file's header.
public struct FileKey: Sendable {
    public let record: FileKeyRecord
    /// 32 bytes; nil if the key stays in the service.
    public let key: SharedSecret?

    public init(_ record: FileKeyRecord, key: SharedSecret?) {
        (self.record, self.key) = (record, key)
    }
}

/// A request to encrypt or decrypt with the key of a protected file, for a program that does not get the key.
public struct FilePartRequest: Sendable {
    public let record: FileKeyRecord
    /// The plaintext or the ciphertext: at most ``maxLength`` bytes.
    public let input: SharedSecret
    /// The additional data that the encryption authenticates.
    public let authenticated: [UInt8]
    /// The nonce and the tag of a ciphertext; nil to encrypt.
    public let seal: [UInt8]?

    /// The longest input: one chunk.
    public static let maxLength = 65_536
    /// The longest additional data, in bytes.
    public static let maxAuthenticatedLength = 2048

    public init(_ record: FileKeyRecord, _ input: SharedSecret, authenticated: [UInt8], seal: [UInt8]?) {
        (self.record, self.input, self.authenticated, self.seal) = (record, input, authenticated, seal)
    }
}

/// The answer to a ``FilePartRequest``.
public struct FilePart: Sendable {
    /// The ciphertext or the plaintext.
    public let output: SharedSecret
    /// The nonce and the tag of a ciphertext; nil for a plaintext.
    public let seal: [UInt8]?

    public init(_ output: SharedSecret, seal: [UInt8]?) { (self.output, self.seal) = (output, seal) }
}
