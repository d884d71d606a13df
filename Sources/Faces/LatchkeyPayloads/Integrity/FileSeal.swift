// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel

/// The integrity of a file, in a small file of its own beside it: who has the key vouches for the
/// file's content and its use.
///
/// ```swift
/// let seal = try FileSeal.seal(
///     "model.bin", with: .p256(key), keyIdentifier: "release 2026", context: "model")
/// try seal.encoded.write(to: sealURL)
///
/// try FileSeal(encoded: Data(contentsOf: sealURL)).verify("model.bin", with: .p256(publicKey), context: "model")
/// ```
///
/// A seal does not hide the file, and does not show the newer of two sealed versions: let the context contain the
/// version if an older one must be refused. A file that another program can write may change after it was verified: use
/// ``FileSealInput`` for the bytes that you read.
public struct FileSeal: Hashable, Sendable {
    /// How the seal was made.
    public let algorithm: FileSealAlgorithm
    /// The name of the key, for verifiers to find it; 1 to 255 bytes in UTF-8.
    public let keyIdentifier: String
    /// The length of the file in bytes.
    public let length: UInt64
    /// SHA-512 of the file.
    let digest: [UInt8]
    /// The signature or the code of ``statement(context:)``.
    let signature: [UInt8]

    init(
        _ algorithm: FileSealAlgorithm, keyIdentifier: String, length: UInt64, digest: [UInt8], signature: [UInt8] = []
    ) {
        (self.algorithm, self.keyIdentifier, self.length) = (algorithm, keyIdentifier, length)
        (self.digest, self.signature) = (digest, signature)
    }

    /// Seals a file of any size.
    ///
    /// - Parameters:
    ///   - path: a regular file, or a link to one.
    ///   - key: at least as strong as the algorithm; it may be a key of the keychain.
    ///   - keyIdentifier: the name of the key for verifiers.
    ///   - context: the use of the file. Verifiers must state it as well; it is not in the seal.
    /// - Throws: `errSecParam` for a name that is empty or too long; `errSecKeySizeNotAllowed` for a
    ///   weak key; `errSecIO` if the file cannot be read; an error of the keychain.
    public static func seal(
        _ path: String, with key: FileSealKey, keyIdentifier: String, context: String = ""
    ) throws(KeychainError) -> FileSeal {
        var input = FileSealInput()
        try SealedFile.read(path, limit: .max) { input.update($0) }
        return try input.seal(with: key, keyIdentifier: keyIdentifier, context: context)
    }

    /// Checks that the file is the one that was sealed. Reads no more of it than the length of the
    /// seal.
    ///
    /// - Parameters:
    ///   - path: a regular file, or a link to one.
    ///   - key: the key that ``keyIdentifier`` means to the caller.
    ///   - context: as it was stated for the seal.
    /// - Throws: `errSecVerifyFailed` if the file, the seal, the context or the key is another one;
    ///   `errSecParam` for a key of another algorithm; `errSecIO` if the file cannot be read.
    public func verify(_ path: String, with key: FileSealVerificationKey, context: String = "") throws(KeychainError) {
        try verifySignature(with: key, context: context)
        var input = FileSealInput()
        try SealedFile.read(path, limit: length) { input.update($0) }
        try input.requireContent(of: self)
    }

    /// Checks only that the holder of the key made the seal, and for this use.
    func verifySignature(with key: FileSealVerificationKey, context: String) throws(KeychainError) {
        guard key.algorithm == algorithm else {
            throw .parameter(
                "the seal is made with \(algorithm.rawValue), and the key is for \(key.algorithm.rawValue)")
        }
        guard try key.verificationKey.isSignature(signature, of: statement(context: context)) else {
            throw KeychainError(
                .verifyFailed, "the seal is not authentic",
                hint: "it was changed, or is for another key or context")
        }
    }

    /// The signed bytes; Documentation/Formats/file-seal.md.
    func statement(context: String) -> [UInt8] { FileSealCoding.fields(of: self) + Array(context.utf8) }
}

// MARK: Coding

extension FileSeal {
    /// The bytes of the seal's own file.
    public var encoded: Data { Data(FileSealCoding.encode(self)) }

    /// Reads a seal. It is not verified.
    ///
    /// - Throws: `errSecDecode` for other bytes; `errSecUnimplemented` for another version or
    ///   algorithm, with the reason.
    public init(encoded: some DataProtocol) throws(KeychainError) {
        guard encoded.count <= FileSealCoding.maxLength else { throw FileSealCoding.notASeal }
        self = try FileSealCoding.decode(Array(encoded))
    }
}
