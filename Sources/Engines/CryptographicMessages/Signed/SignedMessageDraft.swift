// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeyServices
public import KeychainModel
internal import OpenSSLCrypto

/// A signed message to be written: content, signers and accompanying data.
public struct SignedMessageDraft: Sendable {
    public var content: [UInt8]
    public var contentType = ObjectIdentifier.cmsData
    /// Whether the content stays out of the message.
    public var isDetached = false
    public var signers: [SigningIdentity] = []
    /// The certificates that the message contains.
    public var certificates: [Certificate] = []
    /// The time that the signers claim; nil for none.
    public var signingTime: CertificateTime?
    /// Whether the signers announce the ciphers that they can decrypt (RFC 8551, section 2.5.2).
    public var announcesCapabilities = false

    public init(content: [UInt8]) { self.content = content }

    /// Returns the DER of a `ContentInfo`.
    ///
    /// - Throws: the error of a key that does not sign.
    public func encoded() throws(KeychainError) -> [UInt8] {
        MessageWriter.sequence(
            MessageWriter.identifier(.cmsSignedData), MessageWriter.explicit(0, try encodedContent()))
    }

    /// Returns the DER of `SignedData`, the content of a message around it.
    public func encodedContent() throws(KeychainError) -> [UInt8] {
        var infos: [[UInt8]] = []
        for signer in signers { infos.append(try info(signer)) }
        let inner = isDetached ? [] : MessageWriter.explicit(0, MessageWriter.octets(content))
        let included = Set(certificates).map(\.der)
        return MessageWriter.sequence(
            MessageWriter.number(contentType == .cmsData ? 1 : 3),
            MessageWriter.set(Array(Set(signers.map(\.digestAlgorithm)))),
            MessageWriter.sequence(MessageWriter.identifier(contentType), inner),
            included.isEmpty ? [] : MessageWriter.set(0, included), MessageWriter.set(infos))
    }

    /// `SignerInfo`.
    private func info(_ signer: SigningIdentity) throws(KeychainError) -> [UInt8] {
        let attributes = try attributes(signer)
        return MessageWriter.sequence(
            MessageWriter.number(1), CertificateIdentifier(signer.certificate).der, signer.digestAlgorithm,
            MessageWriter.set(0, attributes), signer.signatureAlgorithm,
            MessageWriter.octets(try signer.signature(of: MessageWriter.set(attributes))))
    }

    private func attributes(_ signer: SigningIdentity) throws(KeychainError) -> [[UInt8]] {
        let digest = try content.withContiguousBytes { (bytes) throws(KeychainError) in
            do throws(OpenSSLError) {
                return try signer.hash.function.digest(of: bytes)
            } catch {
                throw KeychainError(.internalFailure, error.message)
            }
        }
        var attributes = [
            Self.attribute(.contentTypeAttribute, MessageWriter.identifier(contentType)),
            Self.attribute(.messageDigestAttribute, MessageWriter.octets(digest)),
        ]
        if let signingTime { attributes.append(Self.attribute(.signingTimeAttribute, signingTime.der)) }
        if announcesCapabilities {
            let ciphers = [ContentCipher.aes256, .aes128].map { MessageWriter.algorithm($0.identifier) }
            attributes.append(Self.attribute(.capabilitiesAttribute, MessageWriter.sequence(ciphers.flatMap { $0 })))
        }
        return attributes
    }

    private static func attribute(_ type: ObjectIdentifier, _ value: [UInt8]) -> [UInt8] {
        MessageWriter.sequence(MessageWriter.identifier(type), MessageWriter.set([value]))
    }
}
