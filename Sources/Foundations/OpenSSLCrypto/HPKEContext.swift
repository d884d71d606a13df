// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import SecretMemory

/// How the two parties of HPKE agree on a secret: the identifiers of IANA's registry "HPKE KEM
/// Identifiers".
public enum HPKEKeyEncapsulation: UInt16, Sendable {
    /// DHKEM(P-256, HKDF-SHA256).
    case p256 = 0x0010
    /// DHKEM(X25519, HKDF-SHA256).
    case x25519 = 0x0020
    /// X-Wing: ML-KEM-768 and X25519.
    case xWing = 0x647A
}

/// The key and the nonces of the messages from one sender to one recipient (RFC 9180, section 5),
/// with HKDF-SHA256 and AES-256-GCM. Its secrets are in secret memory.
public struct HPKEContext: ~Copyable, Sendable {
    /// The modes without a shared passphrase.
    public enum Mode: UInt8, Sendable {
        /// Anyone can be the sender.
        case base = 0
        /// The sender has the private half of a key that the recipient knows.
        case authenticated = 2
    }

    private let key: SecretBytes
    private let baseNonce: SecretBytes

    /// - Parameters:
    ///   - sharedSecret: 32 bytes that both parties agree on.
    ///   - info: must be the same for both parties.
    public init(
        _ encapsulation: HPKEKeyEncapsulation, _ mode: Mode, sharedSecret: borrowing SecretBytes, info: [UInt8]
    ) {
        // "HPKE", the encapsulation, HKDF-SHA256 and AES-256-GCM.
        let functions = HPKELabeledFunctions(
            suite: Array("HPKE".utf8) + encapsulation.rawValue.bigEndianBytes + [0x00, 0x01, 0x00, 0x02])
        let empty = SecretBytes(count: 0) { _ in }
        // EXPOSE: digests of public values.
        let identifier = functions.extract("psk_id_hash", salt: empty, empty).withUnsafeBytes { Array($0) }
        let digest = functions.extract("info_hash", salt: empty, SecretBytes(info)).withUnsafeBytes { Array($0) }
        let context = [mode.rawValue] + identifier + digest
        let secret = functions.extract("secret", salt: sharedSecret, empty)
        key = functions.expand(secret, "key", info: context, count: 32)
        baseNonce = functions.expand(secret, "base_nonce", info: context, count: Self.nonceLength)
    }

    /// Encrypts the message with this number, from 0; returns the ciphertext followed by the tag.
    ///
    /// A second message with the same number would disclose both.
    public borrowing func seal(
        _ plaintext: UnsafeRawBufferPointer, number: UInt64, authenticating: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        try withKey(number) { (key, nonce) throws(OpenSSLError) in
            try AESGCM.seal(plaintext, key: key, vector: nonce, authenticating: authenticating)
        }
    }

    /// Decrypts the message with this number; returns nil if it is not authentic.
    public borrowing func open(
        _ sealed: UnsafeRawBufferPointer, number: UInt64, authenticating: [UInt8]
    ) throws(OpenSSLError) -> SharedSecret? {
        try withKey(number) { (key, nonce) throws(OpenSSLError) in
            try AESGCM.open(sealed, key: key, vector: nonce, authenticating: authenticating)
        }
    }

    /// The nonce is the base nonce XOR the number as 12 bytes (RFC 9180, section 5.2).
    private borrowing func withKey<Result: ~Copyable>(
        _ number: UInt64,
        _ body: (_ key: UnsafeRawBufferPointer, _ nonce: UnsafeRawBufferPointer) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        let nonce = baseNonce.copy().withUnsafeBytes { base in
            SecretBytes(count: Self.nonceLength) { nonce in
                nonce.copyMemory(from: base)
                for index in 0..<8 {
                    nonce[nonce.count - 1 - index] ^= UInt8(truncatingIfNeeded: number >> (8 * index))
                }
            }
        }
        return try key.withUnsafeBytes { (key) throws(OpenSSLError) in
            try nonce.withUnsafeBytes { (nonce) throws(OpenSSLError) in try body(key, nonce) }
        }
    }

    private static let nonceLength = 12
}

extension HPKEKeyEncapsulation {
    /// Returns the shared secret of DHKEM (RFC 9180, section 4.1).
    ///
    /// - Parameters:
    ///   - agreed: the result of the agreement, in the authenticated mode of both agreements.
    ///   - context: the encapsulated key, the recipient's public key, and in the authenticated mode
    ///     the sender's.
    public func sharedSecret(agreed: borrowing SecretBytes, context: [UInt8]) -> SecretBytes {
        let functions = HPKELabeledFunctions(suite: Array("KEM".utf8) + rawValue.bigEndianBytes)
        let secret = functions.extract("eae_prk", salt: SecretBytes(count: 0) { _ in }, agreed)
        return functions.expand(secret, "shared_secret", info: context, count: 32)
    }
}
