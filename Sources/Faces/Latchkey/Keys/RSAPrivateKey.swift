// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
package import KeyServices
public import KeychainModel
internal import LatchkeyService
public import SecretMemory

/// A signature scheme of RSA.
public enum RSASignatureScheme: Sendable, Hashable {
    /// PKCS #1 v1.5.
    case pkcs1(HashAlgorithm)
    /// PSS with a salt as long as the digest.
    case pss(HashAlgorithm)

    var algorithm: KeyAlgorithm {
        switch self {
        case .pkcs1(let hash): .rsaSignature(.pkcs1(.message(hash)))
        case .pss(let hash): .rsaSignature(.pss(.message(hash)))
        }
    }
}

/// An encryption scheme of RSA.
public enum RSAEncryptionScheme: Sendable, Hashable {
    /// One block with OAEP.
    case oaep(HashAlgorithm)
    /// Data of any length: a session key with OAEP, and AES-GCM.
    case hybrid(HashAlgorithm)

    var algorithm: KeyAlgorithm {
        switch self {
        case .oaep(let hash): .rsaEncryption(.oaep(hash))
        case .hybrid(let hash): .rsaEncryption(.oaepAESGCM(hash))
        }
    }
}

/// The private half of an RSA key pair.
///
/// ```swift
/// let key = try Keychain.default.generate(RSAPrivateKey.self, bits: 3072, tag: "com.example.key")
/// let signature = try key.signature(for: message)
/// ```
public struct RSAPrivateKey: KeychainKey {
    /// The key behind this value.
    public let handle: KeyHandle

    /// A key of any kind as an RSA key.
    ///
    /// - Throws: `errSecParam` for a key of another kind.
    public init(_ key: KeyHandle) throws(KeychainError) {
        handle = try Self.requireSupported(key)
    }

    /// Generates a key in memory, of 512 to 8192 bits in steps of 8. A key below 2048 bits is weak:
    /// the program's logger gets a warning.
    public init(bits: Int = 3072) throws(KeychainError) {
        let kind = KeyKind(.rsa, bits: bits)
        if kind.canBeGenerated, kind.isWeak { ProgramLog.current.warn(.weakKey(kind)) }
        handle = KeyHandle(try SoftwareKey.generate(kind))
    }

    /// Returns whether the kind is an RSA key.
    public static func supports(_ kind: KeyKind) -> Bool { kind.type == .rsa }

    /// The public half.
    public var publicKey: RSAPublicKey {
        get throws(KeychainError) { RSAPublicKey(try handle.publicKey()) }
    }

    /// Returns the signature of the message, as long as the modulus.
    public func signature(
        for message: some DataProtocol, _ scheme: RSASignatureScheme = .pss(.sha256)
    ) throws(KeychainError) -> Data {
        try handle.signature(of: message, scheme.algorithm)
    }

    /// Returns the plaintext that was encrypted for this key.
    ///
    /// - Throws: `errSecParam` for every defect of the ciphertext.
    public func decrypt(
        _ ciphertext: some DataProtocol, _ scheme: RSAEncryptionScheme = .oaep(.sha256)
    ) throws(KeychainError) -> SharedSecret {
        try handle.decrypted(ciphertext, scheme.algorithm)
    }
}

/// The public half of an RSA key pair.
public struct RSAPublicKey: Sendable {
    package let key: PublicKey

    init(_ key: PublicKey) {
        self.key = key
    }

    /// Creates a key from its PKCS #1 representation.
    public init(pkcs1 bytes: some DataProtocol) throws(KeychainError) {
        key = try withContiguousBytes(bytes) { (bytes) throws(KeychainError) in
            try PublicKey(external: bytes, type: .rsa)
        }
    }

    /// The `RSAPublicKey` structure of PKCS #1, in DER.
    public var pkcs1: Data { Data(key.external) }

    /// Returns the `SubjectPublicKeyInfo` in PEM.
    public func pem() throws(KeychainError) -> String { try key.pem() }

    /// Returns whether the signature of the message is valid. Bytes that are not a signature are an
    /// invalid signature.
    public func isValidSignature(
        _ signature: some DataProtocol, for message: some DataProtocol, _ scheme: RSASignatureScheme = .pss(.sha256)
    ) throws(KeychainError) -> Bool {
        try key.isValid(signature, for: message, scheme.algorithm)
    }

    /// Returns a ciphertext that only the private half can decrypt.
    ///
    /// - Throws: `errSecParam` if the plaintext is too long for OAEP.
    public func encrypt(
        _ plaintext: some SecretConvertible, _ scheme: RSAEncryptionScheme = .oaep(.sha256)
    ) throws(KeychainError) -> Data {
        Data(
            try plaintext.sharedSecret().withUnsafeBytes { (bytes) throws(KeychainError) in
                try key.encrypted(bytes, scheme.algorithm)
            })
    }
}

extension PublicKey {
    func isValid(
        _ signature: some DataProtocol, for message: some DataProtocol, _ algorithm: KeyAlgorithm
    ) throws(KeychainError) -> Bool {
        try withContiguousBytes(signature) { (signature) throws(KeychainError) in
            try withContiguousBytes(message) { (message) throws(KeychainError) in
                try isSignature(signature, of: message, algorithm)
            }
        }
    }

    func pem() throws(KeychainError) -> String {
        try KeyFile.write(.publicKey(self), as: .pkcs8).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
