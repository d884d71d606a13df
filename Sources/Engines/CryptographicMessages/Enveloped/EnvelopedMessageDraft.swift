// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeyServices
public import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// An encrypted message to be written: content and recipients.
public struct EnvelopedMessageDraft: Sendable {
    public var content: [UInt8]
    public var contentType = ObjectIdentifier.cmsData
    /// RSA keys and keys of elliptic curves.
    public var recipients: [Certificate] = []
    /// Whether RSA keys are used with OAEP and SHA-256 instead of PKCS #1 v1.5. More programs can read the latter.
    public var usesOAEP = false

    public init(content: [UInt8]) { self.content = content }

    /// Returns the DER of a `ContentInfo`, with the content under AES-256-CBC.
    ///
    /// - Throws: errSecParam if there is no recipient, or the key of one is not supported;
    ///   errSecKeyUsageIncorrect if a certificate says that its key is not for encryption.
    public func encoded() throws(KeychainError) -> [UInt8] {
        guard !recipients.isEmpty else { throw .parameter("an encrypted message needs a recipient") }
        let cipher = ContentCipher.aes256
        let key = SecretBytes.random(count: cipher.kind.keyByteCount)
        let vector = SecretBytes.random(count: cipher.kind.blockByteCount).withUnsafeBytes { Array($0) }
        var infos: [[UInt8]] = []
        for recipient in recipients { infos.append(try Self.info(recipient, key, usesOAEP)) }
        let algorithm = MessageWriter.algorithm(cipher.identifier, MessageWriter.octets(vector))
        let ciphertext = try cipher.encrypted(content, key: key, vector: vector)
        let info = MessageWriter.sequence(
            MessageWriter.identifier(contentType), algorithm, DERElement.of(DERTag.primitive(0), ciphertext))
        // Version 0 if every recipient has version 0 (RFC 5652, section 6.1).
        let isOld = infos.allSatisfy { $0.first == DERTag.sequence.rawValue }
        let enveloped = MessageWriter.sequence(MessageWriter.number(isOld ? 0 : 2), MessageWriter.set(infos), info)
        return MessageWriter.sequence(
            MessageWriter.identifier(.cmsEnvelopedData), MessageWriter.explicit(0, enveloped))
    }

    /// `RecipientInfo` with a copy of the content key.
    private static func info(
        _ certificate: Certificate, _ key: borrowing SecretBytes, _ usesOAEP: Bool
    ) throws(KeychainError) -> [UInt8] {
        guard let publicKey = PublicKey.inCertificate(certificate) else {
            throw .parameter("a key \(certificate.publicKey) cannot receive messages")
        }
        let isRSA = publicKey.kind.type == .rsa
        // RFC 5280, section 4.2.1.3: a certificate without the extension allows every use.
        if let usage = certificate.extensions.keyUsage, !usage.contains(isRSA ? .keyEncipherment : .keyAgreement) {
            throw KeychainError(.keyUsageIncorrect, "the certificate of a recipient is not for encryption")
        }
        return isRSA
            ? try transported(certificate, publicKey, key, usesOAEP ? .oaep(.sha256) : .pkcs1)
            : try agreed(certificate, publicKey, key)
    }

    /// `KeyTransRecipientInfo`.
    private static func transported(
        _ certificate: Certificate, _ publicKey: PublicKey, _ key: borrowing SecretBytes, _ transport: KeyTransport
    ) throws(KeychainError) -> [UInt8] {
        let encrypted = try key.withUnsafeBytes { (key) throws(KeychainError) in
            try publicKey.encrypted(key, transport.encryption)
        }
        return MessageWriter.sequence(
            MessageWriter.number(0), CertificateIdentifier(certificate).der, transport.algorithm,
            MessageWriter.octets(encrypted))
    }

    /// `KeyAgreeRecipientInfo`, with a key that is used for this recipient only.
    private static func agreed(
        _ certificate: Certificate, _ publicKey: PublicKey, _ key: borrowing SecretBytes
    ) throws(KeychainError) -> [UInt8] {
        let (wrapping, ephemeral) = (KeyWrapping.standard, try SoftwareKey.generate(publicKey.kind))
        let wrappingKey = try wrapping.wrappingKey(
            from: try ephemeral.keyAgreement(with: publicKey), material: nil)
        let wrapped = key.withUnsafeBytes { key in
            wrappingKey.withUnsafeBytes { AESKeyWrap.wrap(key, under: $0) }
        }
        guard let wrapped else { throw KeychainError(.internalFailure, "the content key cannot be wrapped") }
        let curve = Array(certificate.publicKey.algorithm.parameters ?? [])
        // `[1] IMPLICIT OriginatorPublicKey`.
        let originator = MessageWriter.explicit(
            1, MessageWriter.algorithm(.keyCurve, curve) + MessageWriter.bits(ephemeral.publicKey.external))
        let recipient = MessageWriter.sequence(CertificateIdentifier(certificate).der, MessageWriter.octets(wrapped))
        // `[1] IMPLICIT KeyAgreeRecipientInfo`.
        return MessageWriter.explicit(
            1,
            MessageWriter.number(3) + MessageWriter.explicit(0, originator) + wrapping.algorithm
                + MessageWriter.sequence(recipient))
    }
}
