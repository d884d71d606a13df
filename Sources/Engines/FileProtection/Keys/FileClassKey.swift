// SPDX-License-Identifier: Apache-2.0

internal import enum Crypto.AES
internal import enum Crypto.P256
internal import struct Crypto.SymmetricKey
internal import FoundationEssentials
public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A class key of protected files. It wraps the keys of files.
///
/// ```
/// class key       = 32 random bytes; of class B, a private P-256 key
/// shared secret   = class B: ECDH(ephemeral key, class key); other classes: the class key
/// wrapping key    = HKDF-SHA256(shared secret, info = "latchkey v1 file key" ‖ binding [‖ ephemeral ‖ class public key])
/// wrapped key     = AES-KW(wrapping key, file key)
/// ```
///
/// AES-KW has no additional data: the derivation binds the key to its keychain, class, generation,
/// file and access group.
public struct FileClassKey: Sendable {
    public let protection: FileProtectionClass
    private let secret: SharedSecret

    /// - Returns: nil for bytes that are no key of the class.
    public init?(_ protection: FileProtectionClass, _ secret: SharedSecret) {
        self.protection = protection
        self.secret = secret
        guard secret.count == Self.length else { return nil }
        guard protection != .completeUnlessOpen || privateKey != nil else { return nil }
    }

    static let length = 32

    /// Generates a class key.
    public static func random(_ protection: FileProtectionClass) -> FileClassKey {
        while true {
            let secret = SharedSecret(.random(count: length))
            // Of 2³² random numbers at most one is no private key of P-256.
            if let key = FileClassKey(protection, secret) { return key }
        }
    }

    /// The bytes to store. They are secret.
    public var stored: SharedSecret { secret }

    /// The public half of the key of class B; nil for other classes.
    public var publicKey: FileClassPublicKey? {
        privateKey.flatMap { FileClassPublicKey(Array($0.publicKey.x963Representation)) }
    }

    private var privateKey: P256.KeyAgreement.PrivateKey? {
        guard protection == .completeUnlessOpen else { return nil }
        return secret.withUnsafeBytes { try? P256.KeyAgreement.PrivateKey(rawRepresentation: BorrowedBytes($0)) }
    }

    /// Wraps the key of a file.
    ///
    /// - Returns: nil if the binding is for another class.
    public func wrap(_ fileKey: SharedSecret, _ binding: FileKeyRecord.Binding) -> FileKeyRecord? {
        guard binding.protection == protection else { return nil }
        if let publicKey { return publicKey.wrap(fileKey, binding) }
        let wrapped = FileKeyCryptography.wrap(fileKey, under: secret, info: binding.encoded)
        return wrapped.flatMap { FileKeyRecord(binding, ephemeralKey: [], wrappedKey: $0) }
    }

    /// Returns the file key of a record; nil if this class key has not wrapped it.
    public func unwrap(_ record: FileKeyRecord) -> SharedSecret? {
        guard record.binding.protection == protection else { return nil }
        guard let privateKey else {
            return FileKeyCryptography.unwrap(record.wrappedKey, under: secret, info: record.binding.encoded)
        }
        guard let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: record.ephemeralKey),
            let shared = try? privateKey.sharedSecretFromKeyAgreement(with: ephemeral)
        else { return nil }
        return FileKeyCryptography.unwrap(
            record.wrappedKey, under: shared.secret,
            info: record.binding.encoded + record.ephemeralKey + Array(privateKey.publicKey.x963Representation))
    }
}

/// The public half of the key of class B: it wraps keys of new files while the keychain is locked.
public struct FileClassPublicKey: Sendable, Hashable {
    /// Uncompressed (X9.63): 65 bytes.
    public let bytes: [UInt8]

    /// - Returns: nil for bytes that are no point of P-256.
    public init?(_ bytes: [UInt8]) {
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: bytes)) != nil else { return nil }
        self.bytes = bytes
    }

    /// Wraps the key of a file; nil if the binding is for another class.
    public func wrap(_ fileKey: SharedSecret, _ binding: FileKeyRecord.Binding) -> FileKeyRecord? {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        guard binding.protection == .completeUnlessOpen,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes),
            let shared = try? ephemeral.sharedSecretFromKeyAgreement(with: key)
        else { return nil }
        let ephemeralKey = Array(ephemeral.publicKey.x963Representation)
        let wrapped = FileKeyCryptography.wrap(
            fileKey, under: shared.secret, info: binding.encoded + ephemeralKey + bytes)
        return wrapped.flatMap { FileKeyRecord(binding, ephemeralKey: ephemeralKey, wrappedKey: $0) }
    }
}

extension ContiguousBytes {
    fileprivate var secret: SharedSecret {
        withUnsafeBytes { SharedSecret(SecretBytes(copying: $0)) }
    }
}

/// HKDF-SHA256 (RFC 5869) and AES key wrap (RFC 3394), as file keys use them.
private enum FileKeyCryptography {
    static func wrap(_ key: SharedSecret, under secret: SharedSecret, info: [UInt8])
        -> [UInt8]?
    {
        let wrapping = wrappingKey(secret, info)
        let wrapped = key.withUnsafeBytes { key in
            wrapping.withUnsafeBytes { try? AES.KeyWrap.wrap(SymmetricKey(data: key), using: SymmetricKey(data: $0)) }
        }
        return wrapped.map { Array($0) }
    }

    static func unwrap(_ wrapped: [UInt8], under secret: SharedSecret, info: [UInt8])
        -> SharedSecret?
    {
        let wrapping = wrappingKey(secret, info)
        return wrapped.withUnsafeBytes { wrapped in
            wrapping.withUnsafeBytes { AESKeyWrap.unwrap(wrapped, under: $0) }
        }
    }

    private static func wrappingKey(_ secret: SharedSecret, _ info: [UInt8]) -> SecretBytes {
        secret.withUnsafeBytes { secret in
            SecretBytes(count: 32) {
                KeyDerivation.hkdf(secret, info: Array("latchkey v1 file key".utf8) + info, into: $0)
            }
        }
    }
}
