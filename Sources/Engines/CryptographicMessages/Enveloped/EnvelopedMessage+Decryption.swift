// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
public import KeyServices
public import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

extension EnvelopedMessage {
    /// The recipient with this certificate; nil if there is no such recipient.
    public func recipient(_ certificate: Certificate) -> MessageRecipient? {
        recipients.first { $0.identifier.matches(certificate) }
    }

    /// Returns the content. It is not known who encrypted it.
    ///
    /// - Parameters:
    ///   - recipient: one of ``recipients``.
    ///   - key: the private key of the recipient; it decrypts where it is.
    /// - Throws: errSecDecode if the key or the message is not the right one, with the same error and after the same
    ///   work for every cause; errSecUnimplemented for an unsupported recipient; the error of a key that is not used,
    ///   such as errSecInteractionNotAllowed.
    public func content(for recipient: MessageRecipient, by key: any PrivateKey) throws(KeychainError) -> [UInt8] {
        try cipher.decrypted(ciphertext, key: try contentKey(of: recipient, key), vector: vector)
    }

    private func contentKey(of recipient: MessageRecipient, _ key: any PrivateKey) throws(KeychainError) -> SecretBytes
    {
        switch recipient.key {
        case .unsupported(let error): throw error
        case .transported(let transport, let encrypted): try transportedKey(transport, encrypted, key)
        case .agreed(let wrapping, let point, let material, let wrapped):
            try agreedKey(wrapping, point, material, wrapped, key)
        }
    }

    /// Decrypts the content key with RSA. If that fails, returns a random key, so that a message with
    /// a malformed block fails like one with a wrong content (RFC 3218, section 2.3.2): otherwise the
    /// answers to many chosen messages would decrypt another one.
    private func transportedKey(
        _ transport: KeyTransport, _ encrypted: [UInt8], _ key: any PrivateKey
    ) throws(KeychainError) -> SecretBytes {
        let random = SecretBytes.random(count: cipher.kind.keyByteCount)
        let decrypted: SharedSecret
        do throws(KeychainError) {
            decrypted = try encrypted.withContiguousBytes { (block) throws(KeychainError) in
                try key.use(transport.decryption, on: block)
            }
        } catch  where error.status == .param {
            return random
        }
        return decrypted.count == cipher.kind.keyByteCount ? decrypted.copy() : random
    }

    private func agreedKey(
        _ wrapping: KeyWrapping, _ point: [UInt8], _ material: [UInt8]?, _ wrapped: [UInt8], _ key: any PrivateKey
    ) throws(KeychainError) -> SecretBytes {
        let sharedSecret: SharedSecret
        do throws(KeychainError) {
            sharedSecret = try point.withContiguousBytes { (point) throws(KeychainError) in
                try key.use(.agreeToDecrypt, on: point)
            }
        } catch  where error.status == .param {
            // Not a point of the curve.
            throw .notDecrypted
        }
        let unwrapped = try wrapping.wrappingKey(from: sharedSecret, material: material).withUnsafeBytes { wrapping in
            wrapped.withUnsafeBytes { AESKeyWrap.unwrap($0, under: wrapping) }
        }
        guard let unwrapped, unwrapped.count == cipher.kind.keyByteCount else { throw .notDecrypted }
        return unwrapped.copy()
    }
}
