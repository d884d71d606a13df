// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import KeyServices
import KeychainModel
import OpenSSLCrypto

@testable import CryptographicMessages

/// A signed message that is put together without any check, and signed with any content.
struct HandMadeMessage {
    var content: [UInt8]? = Array("content".utf8)
    var contentType = ObjectIdentifier.cmsData
    /// nil for no signed attributes.
    var attributes: [[UInt8]]?
    /// The attributes in this order, not in that of DER.
    var keepsOrder = false
    var certificates: [[UInt8]]
    var identifier: [UInt8]
    var digest = HashAlgorithm.sha256
    var digestAlgorithm: [UInt8]?
    var signatureAlgorithm = MessageWriter.algorithm(.keyRSA, MessageWriter.null)
    var signerCount = 1

    private let party: MessageParties.Party

    init(_ party: MessageParties.Party) {
        self.party = party
        certificates = [party.certificate.der]
        identifier = CertificateIdentifier(party.certificate).der
        attributes = [Self.contentType(.cmsData), Self.digest(of: Array("content".utf8))]
    }

    // MARK: Attributes

    static func attribute(_ type: ObjectIdentifier, _ values: [UInt8]...) -> [UInt8] {
        MessageWriter.sequence(MessageWriter.identifier(type), MessageWriter.set(values))
    }

    static func contentType(_ type: ObjectIdentifier) -> [UInt8] {
        attribute(.contentTypeAttribute, MessageWriter.identifier(type))
    }

    static func digest(of content: [UInt8], _ hash: HashAlgorithm = .sha256) -> [UInt8] {
        attribute(.messageDigestAttribute, MessageWriter.octets(Self.hash(content, hash)))
    }

    static func hash(_ content: [UInt8], _ hash: HashAlgorithm) -> [UInt8] {
        (try? content.withUnsafeBytes { try hash.function.digest(of: $0) }) ?? []
    }

    // MARK: Encoding

    func encoded() throws -> [UInt8] {
        let list =
            keepsOrder
            ? attributes?.flatMap { $0 } : attributes?.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
        let signed = list.map { DERElement.of(0x31, $0) } ?? content ?? []
        let signature = try signed.withUnsafeBytes {
            try party.key.signature(of: $0, .rsaSignature(.pkcs1(.message(digest))))
        }
        let info = MessageWriter.sequence(
            MessageWriter.number(1), identifier, digestAlgorithm ?? MessageWriter.algorithm(digest.digestIdentifier),
            list.map { DERElement.of(0xA0, $0) } ?? [], signatureAlgorithm, MessageWriter.octets(signature))
        let inner = content.map { MessageWriter.explicit(0, MessageWriter.octets($0)) } ?? []
        let data = MessageWriter.sequence(
            MessageWriter.number(1), MessageWriter.set([MessageWriter.algorithm(digest.digestIdentifier)]),
            MessageWriter.sequence(MessageWriter.identifier(contentType), inner),
            certificates.isEmpty ? [] : DERElement.of(0xA0, certificates.flatMap { $0 }),
            DERElement.of(0x31, Array(repeating: info, count: signerCount).flatMap { $0 }))
        return Self.message(.cmsSignedData, data)
    }

    /// A `ContentInfo`.
    static func message(_ type: ObjectIdentifier, _ content: [UInt8]) -> [UInt8] {
        MessageWriter.sequence(MessageWriter.identifier(type), MessageWriter.explicit(0, content))
    }

    /// The verdict of the one signer.
    func verdict(_ certificates: [Certificate] = []) throws -> SignerVerdict? {
        try CryptographicMessage(encoded()).signed?.verdicts(certificates: certificates).first
    }
}
