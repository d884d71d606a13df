// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Hybrid public key encryption (RFC 9180) of one short message: base mode,
/// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, single-shot.
///
/// Unlike in swift-crypto, the private key, the shared secret and the message are in secret memory.
/// While a call runs, libcrypto has copies of the private key and of the message's key in ordinary
/// memory of its own, which it wipes before the call returns (``X25519``).
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
        let keys = KeySchedule(agreed, encapsulated: encapsulated, publicKey: publicKey, info: info)
        let ciphertext = try message.withUnsafeBytes { (message) throws(OpenSSLError) in
            try keys.withUnsafeBytes { (key, nonce) throws(OpenSSLError) in
                try AESGCM.seal(message, key: key, vector: nonce, authenticating: [])
            }
        }
        return encapsulated + ciphertext
    }

    /// Decrypts what ``seal(_:to:info:)`` returned; returns nil if it was sealed to another key or
    /// with another `info`, or was changed.
    ///
    /// - Parameters:
    ///   - privateKey: 32 bytes.
    ///   - publicKey: that of the private key, to which the message was sealed.
    public static func open(
        _ sealed: [UInt8], with privateKey: borrowing SecretBytes, publicKey: [UInt8], info: [UInt8]
    ) throws(OpenSSLError) -> SharedSecret? {
        guard sealed.count >= overhead else { return nil }
        let encapsulated = Array(sealed.prefix(X25519.byteCount))
        // An encapsulated key of small order is not the work of a sender.
        guard let agreed = try? X25519.sharedSecret(privateKey, own: publicKey, peer: encapsulated) else { return nil }
        let keys = KeySchedule(agreed, encapsulated: encapsulated, publicKey: publicKey, info: info)
        return try sealed.withUnsafeBufferPointer { (sealed) throws(OpenSSLError) in
            let ciphertext = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: sealed.dropFirst(X25519.byteCount)))
            return try keys.withUnsafeBytes { (key, nonce) throws(OpenSSLError) in
                try AESGCM.open(ciphertext, key: key, vector: nonce, authenticating: [])
            }
        }
    }

    /// The key and the nonce of one message (RFC 9180, sections 4.1 and 5.1). No output has more
    /// than the 32 bytes of one block of HKDF-SHA256.
    private struct KeySchedule: ~Copyable {
        private let key: SecretBytes
        private let nonce: SecretBytes

        init(_ agreed: borrowing SecretBytes, encapsulated: [UInt8], publicKey: [UInt8], info: [UInt8]) {
            let empty = SecretBytes(count: 0) { _ in }
            let sender = HPKE.extract(suite: HPKE.keySuite, label: "eae_prk", salt: empty, agreed)
            let shared = HPKE.expand(
                sender, suite: HPKE.keySuite, label: "shared_secret", info: encapsulated + publicKey, count: 32)
            // EXPOSE: digests of public values.
            let identifier = HPKE.extract(suite: HPKE.suite, label: "psk_id_hash", salt: empty, empty)
                .withUnsafeBytes { Array($0) }
            let digest = HPKE.extract(suite: HPKE.suite, label: "info_hash", salt: empty, SecretBytes(info))
                .withUnsafeBytes { Array($0) }
            // Mode 0 is the base mode.
            let context = [0] + identifier + digest
            let secret = HPKE.extract(suite: HPKE.suite, label: "secret", salt: shared, empty)
            key = HPKE.expand(secret, suite: HPKE.suite, label: "key", info: context, count: 32)
            nonce = HPKE.expand(secret, suite: HPKE.suite, label: "base_nonce", info: context, count: 12)
        }

        func withUnsafeBytes<Result: ~Copyable>(
            _ body: (_ key: UnsafeRawBufferPointer, _ nonce: UnsafeRawBufferPointer) throws(OpenSSLError) -> Result
        ) throws(OpenSSLError) -> Result {
            try key.withUnsafeBytes { (key) throws(OpenSSLError) in
                try nonce.withUnsafeBytes { (nonce) throws(OpenSSLError) in try body(key, nonce) }
            }
        }
    }

    /// `LabeledExtract(salt, label, ikm) = HMAC(salt, "HPKE-v1" ‖ suite ‖ label ‖ ikm)`.
    private static func extract(
        suite: [UInt8], label: String, salt: borrowing SecretBytes, _ input: borrowing SecretBytes
    ) -> SecretBytes {
        let head = version + suite + Array(label.utf8)
        let message = SecretBytes(count: head.count + input.count) { buffer in
            buffer[..<head.count].copyBytes(from: head)
            input.withUnsafeBytes { buffer[head.count...].copyBytes(from: $0) }
        }
        return code(of: message, salt: salt)
    }

    private static func code(of message: borrowing SecretBytes, salt: borrowing SecretBytes) -> SecretBytes {
        SecretBytes(count: HMACKey.codeByteCount) { output in
            message.withUnsafeBytes { message in
                salt.withUnsafeBytes { HMACKey($0).writeCode(of: message, to: output) }
            }
        }
    }

    /// `LabeledExpand(key, label, info, count)`: the first bytes of
    /// `HMAC(key, be16 count ‖ "HPKE-v1" ‖ suite ‖ label ‖ info ‖ 1)`.
    private static func expand(
        _ key: borrowing SecretBytes, suite: [UInt8], label: String, info: [UInt8], count: Int
    ) -> SecretBytes {
        let message = [UInt8(count >> 8), UInt8(count & 0xFF)] + version + suite + Array(label.utf8) + info + [1]
        return key.withUnsafeBytes { key in
            SecretBytes(count: HMACKey.codeByteCount) { block in
                message.withUnsafeBytes { HMACKey(key).writeCode(of: $0, to: block) }
            }
            .withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
    }

    private static let version = Array("HPKE-v1".utf8)
    /// "KEM" and DHKEM(X25519, HKDF-SHA256).
    private static let keySuite = Array("KEM".utf8) + [0x00, 0x20]
    /// "HPKE", that, HKDF-SHA256 and AES-256-GCM.
    private static let suite = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x02]
}
