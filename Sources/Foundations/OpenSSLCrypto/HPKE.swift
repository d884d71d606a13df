// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Hybrid public key encryption (RFC 9180) of one short message: base mode,
/// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, single-shot.
///
/// Unlike in swift-crypto, the private key, the shared secret and the message are in secret memory. While a call runs,
/// libcrypto has copies of the private key and of the message's key in ordinary memory of its own. It wipes this memory
/// before the call returns (``X25519``).
public enum HPKE {
    /// The bytes that sealing adds: the encapsulated key of 32 and the tag of 16.
    public static let overhead = X25519.byteCount + AESGCM.tagLength

    /// Encrypts a message to the holder of a private key: `encapsulated key(32) ‖ ciphertext ‖ tag(16)`.
    ///
    /// - Parameters:
    ///   - publicKey: 32 bytes.
    ///   - info: must be the same when the message is opened.
    /// - Throws: ``OpenSSLError`` if the public key is not one.
    public static func seal(_ message: borrowing SecretBytes, to publicKey: [UInt8], info: [UInt8])
        throws(OpenSSLError) -> [UInt8]
    {
        let ephemeral = SecretBytes.random(count: X25519.byteCount)
        let encapsulated = try X25519.publicKey(of: ephemeral)
        let agreed = try X25519.sharedSecret(ephemeral, own: encapsulated, peer: publicKey)
        let context = Self.context(agreed, encapsulated: encapsulated, publicKey: publicKey, info: info)
        let ciphertext = try message.withUnsafeBytes { (message) throws(OpenSSLError) in
            try context.seal(message, number: 0, authenticating: [])
        }
        return encapsulated + ciphertext
    }

    /// Decrypts the result of ``seal(_:to:info:)``; returns nil if it was sealed to another key or with another `info`,
    /// or was changed.
    ///
    /// - Parameters:
    ///   - privateKey: 32 bytes.
    ///   - publicKey: the public key of the private key; the message was sealed to it.
    public static func open(
        _ sealed: [UInt8], with privateKey: borrowing SecretBytes, publicKey: [UInt8], info: [UInt8]
    ) throws(OpenSSLError) -> SharedSecret? {
        guard sealed.count >= overhead else { return nil }
        let encapsulated = Array(sealed.prefix(X25519.byteCount))
        // An encapsulated key of small order is not the work of a sender.
        guard let agreed = try? X25519.sharedSecret(privateKey, own: publicKey, peer: encapsulated) else { return nil }
        let context = Self.context(agreed, encapsulated: encapsulated, publicKey: publicKey, info: info)
        let ciphertext = Array(sealed.dropFirst(X25519.byteCount))
        return try ciphertext.withUnsafeBufferPointer { (ciphertext) throws(OpenSSLError) in
            try context.open(UnsafeRawBufferPointer(ciphertext), number: 0, authenticating: [])
        }
    }

    /// The context of the one message.
    private static func context(
        _ agreed: borrowing SecretBytes, encapsulated: [UInt8], publicKey: [UInt8], info: [UInt8]
    ) -> HPKEContext {
        let shared = HPKEKeyEncapsulation.x25519.sharedSecret(agreed: agreed, context: encapsulated + publicKey)
        return HPKEContext(.x25519, .base, sharedSecret: shared, info: info)
    }
}
