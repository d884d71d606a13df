// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LatchkeyClient
public import SecretMemory

/// The operations of a private key for tasks: they suspend the task instead of blocking its thread.
/// An operation of a key in a keychain is a lookup, or a request to latchkeyd.
///
/// ```swift
/// let key = try await keychain.async.key(P256SigningKey.self, tag: "com.example.key")
/// let signature = try await key.async.signature(for: message)
/// ```
///
/// Threads and cancellation are those of ``AsyncKeychain``.
public struct AsyncKey<Key: KeychainKey>: Sendable {
    let key: Key

    private func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Key) throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        let key = key
        return try await KeychainClient.perform { () throws(KeychainError) in try body(key) }
    }
}

extension KeychainKey {
    /// The same operations for tasks that must not block.
    public var async: AsyncKey<Self> { AsyncKey(key: self) }
}

// MARK: Every key

extension AsyncKey {
    /// Returns the key as PKCS #8 in PEM, encrypted with the passphrase if there is one.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public func pem(passphrase: String? = nil) async throws(KeychainError) -> SharedSecret {
        try await perform { key throws(KeychainError) in try key.pem(passphrase: passphrase) }
    }

    /// Returns the result of `SecKeyCopyExternalRepresentation`: PKCS #1 for RSA, X9.63 for
    /// elliptic curves.
    public func externalRepresentation() async throws(KeychainError) -> SharedSecret {
        try await perform { key throws(KeychainError) in try key.externalRepresentation() }
    }
}

// MARK: Elliptic curves

extension AsyncKey {
    /// Returns a signature in DER.
    ///
    /// - Parameters:
    ///   - message: the bytes to sign.
    ///   - hash: the hash of the message; nil for the default of the curve.
    public func signature<Curve: KeyCurve>(
        for message: some DataProtocol & Sendable, hash: HashAlgorithm? = nil
    ) async throws(KeychainError) -> Data where Key == SigningKey<Curve> {
        try await perform { key throws(KeychainError) in try key.signature(for: message, hash: hash) }
    }

    /// Returns a signature as r ‖ s, the form of JSON Web Signatures.
    public func rawSignature<Curve: KeyCurve>(
        for message: some DataProtocol & Sendable, hash: HashAlgorithm? = nil
    ) async throws(KeychainError) -> Data where Key == SigningKey<Curve> {
        try await perform { key throws(KeychainError) in try key.rawSignature(for: message, hash: hash) }
    }

    /// Returns the key that both parties agree on, as ``AgreementKey/sharedKey(with:count:sharedInfo:hash:)`` does.
    public func sharedKey<Curve: KeyCurve>(
        with other: AgreementPublicKey<Curve>, count: Int, sharedInfo: Data = Data(), hash: HashAlgorithm? = nil
    ) async throws(KeychainError) -> SharedSecret where Key == AgreementKey<Curve> {
        try await perform { key throws(KeychainError) in
            try key.sharedKey(with: other, count: count, sharedInfo: sharedInfo, hash: hash)
        }
    }

    /// Returns the plaintext that was encrypted for this key with ECIES.
    ///
    /// - Throws: `errSecParam` for every defect of the ciphertext.
    public func decrypt<Curve: KeyCurve>(
        _ ciphertext: some DataProtocol & Sendable
    ) async throws(KeychainError) -> SharedSecret where Key == AgreementKey<Curve> {
        try await perform { key throws(KeychainError) in try key.decrypt(ciphertext) }
    }
}

// MARK: RSA

extension AsyncKey where Key == RSAPrivateKey {
    /// Returns the signature of the message.
    public func signature(
        for message: some DataProtocol & Sendable, _ scheme: RSASignatureScheme = .pss(.sha256)
    ) async throws(KeychainError) -> Data {
        try await perform { key throws(KeychainError) in try key.signature(for: message, scheme) }
    }

    /// Returns the plaintext that was encrypted for this key.
    ///
    /// - Throws: `errSecParam` for every defect of the ciphertext.
    public func decrypt(
        _ ciphertext: some DataProtocol & Sendable, _ scheme: RSAEncryptionScheme = .oaep(.sha256)
    ) async throws(KeychainError) -> SharedSecret {
        try await perform { key throws(KeychainError) in try key.decrypt(ciphertext, scheme) }
    }
}
