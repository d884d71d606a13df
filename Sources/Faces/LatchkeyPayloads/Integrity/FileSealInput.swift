// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials
public import KeychainModel

/// The content of a file in parts, to seal or verify exactly the bytes that the program uses.
///
/// ```swift
/// var input = FileSealInput()
/// while let part = try file.read(upToCount: 1 << 20) { input.update(part); use(part) }
/// try input.verify(seal, with: .p256(publicKey))
/// ```
public struct FileSealInput: ~Copyable, Sendable {
    private var hash = SHA512()
    private var length: UInt64 = 0

    /// Starts with an empty content.
    public init() {}

    /// Continues the content.
    public mutating func update(_ part: some DataProtocol) {
        length &+= UInt64(part.count)
        hash.update(data: part)
    }

    mutating func update(_ part: UnsafeRawBufferPointer) {
        length &+= UInt64(part.count)
        hash.update(bufferPointer: part)
    }

    /// Seals the content.
    ///
    /// - Parameters:
    ///   - key: as of ``FileSeal/seal(_:with:keyIdentifier:context:)``.
    ///   - keyIdentifier: the name of the key for verifiers.
    ///   - context: the use of the content. Verifiers must state it as well.
    /// - Throws: as ``FileSeal/seal(_:with:keyIdentifier:context:)``.
    public consuming func seal(
        with key: FileSealKey, keyIdentifier: String, context: String = ""
    ) throws(KeychainError) -> FileSeal {
        guard 1...255 ~= keyIdentifier.utf8.count else {
            throw .parameter("the name of the key must have 1 to 255 bytes, found \(keyIdentifier.utf8.count)")
        }
        let digest = Array(hash.finalize())
        let unsigned = FileSeal(key.algorithm, keyIdentifier: keyIdentifier, length: length, digest: digest)
        let signature = try key.signingKey.signature(of: unsigned.statement(context: context))
        return FileSeal(
            key.algorithm, keyIdentifier: keyIdentifier, length: length, digest: digest, signature: signature)
    }

    /// Checks that the content is the one that was sealed.
    ///
    /// - Parameters:
    ///   - seal: the seal.
    ///   - key: the key that its ``FileSeal/keyIdentifier`` means to the caller.
    ///   - context: as it was stated for the seal.
    /// - Throws: as ``FileSeal/verify(_:with:context:)``.
    public consuming func verify(
        _ seal: FileSeal, with key: FileSealVerificationKey, context: String = ""
    ) throws(KeychainError) {
        try seal.verifySignature(with: key, context: context)
        try requireContent(of: seal)
    }

    consuming func requireContent(of seal: FileSeal) throws(KeychainError) {
        guard length == seal.length else {
            throw KeychainError(
                .verifyFailed, "the file does not have the length of its seal, \(seal.length) bytes")
        }
        guard MessageCode.areEqual(Array(hash.finalize()), seal.digest) else {
            throw KeychainError(.verifyFailed, "the file does not have the content that was sealed")
        }
    }
}
