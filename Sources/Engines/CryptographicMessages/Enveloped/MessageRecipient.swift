// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// One recipient of a message, with its copy of the content key (RFC 5652, section 6.2).
public struct MessageRecipient: Sendable {
    /// The name of the certificate.
    public let identifier: CertificateIdentifier
    let key: EncryptedKey

    enum EncryptedKey: Sendable {
        /// Encrypted with an RSA key.
        case transported(KeyTransport, [UInt8])
        /// Wrapped under a key that the recipient's key and `point` agree on.
        case agreed(KeyWrapping, point: [UInt8], material: [UInt8]?, [UInt8])
        /// Another algorithm. It is refused if this recipient is used.
        case unsupported(KeychainError)
    }

    /// Reads one `RecipientInfo`. For a key agreement, it has several recipients.
    ///
    /// - Returns: none for a recipient that is not a certificate: a password, or a key that both
    ///   sides have.
    static func all(in element: MessageReader.Element, _ limits: MessageLimits) throws(KeychainError)
        -> [MessageRecipient]
    {
        switch element.tag {
        case DERTag.sequence.rawValue: [try transported(element.content)]
        case DERTag.constructed(1): try agreed(element.content, limits)
        case DERTag.constructed(2), DERTag.constructed(3), DERTag.constructed(4): []
        default: throw .malformedMessage("a RecipientInfo has the tag \(element.tag)")
        }
    }

    /// Reads `KeyTransRecipientInfo`.
    private static func transported(_ content: ArraySlice<UInt8>) throws(KeychainError) -> MessageRecipient {
        var members = MessageReader(content)
        _ = try members.number("the version of KeyTransRecipientInfo")
        let identifier = try CertificateIdentifier(&members)
        let algorithm = try members.algorithm("keyEncryptionAlgorithm")
        let key = Array(try members.required(.octetString, "encryptedKey").content)
        try members.requireEnd("KeyTransRecipientInfo")
        return MessageRecipient(
            identifier: identifier,
            key: supported { () throws(KeychainError) in .transported(try KeyTransport(algorithm), key) })
    }

    /// Reads `KeyAgreeRecipientInfo`.
    private static func agreed(
        _ content: ArraySlice<UInt8>, _ limits: MessageLimits
    ) throws(KeychainError) -> [MessageRecipient] {
        var members = MessageReader(content)
        _ = try members.number("the version of KeyAgreeRecipientInfo")
        let originator = try members.explicit(0, "originator")
        let material = try members.optionalExplicit(1, "ukm").map { Array($0.content) }
        let algorithm = try members.algorithm("keyEncryptionAlgorithm")
        var keys = MessageReader(try members.required(.sequence, "recipientEncryptedKeys").content)
        try members.requireEnd("KeyAgreeRecipientInfo")
        var recipients: [MessageRecipient] = []
        while let element = try keys.next() {
            guard recipients.count < limits.recipients else {
                throw .messageTooLarge("more than \(limits.recipients) recipients")
            }
            var parts = MessageReader(element.content)
            let identifier = try CertificateIdentifier(ofAgreement: &parts)
            let key = Array(try parts.required(.octetString, "encryptedKey").content)
            try parts.requireEnd("RecipientEncryptedKey")
            let encrypted = supported { () throws(KeychainError) in
                .agreed(try KeyWrapping(algorithm), point: try point(of: originator), material: material, key)
            }
            recipients.append(MessageRecipient(identifier: identifier, key: encrypted))
        }
        return recipients
    }

    /// Reads `OriginatorPublicKey`, the sender's key for this message. A key of a certificate would be used again and
    /// is not supported (RFC 5753, section 3.1.1 forbids it).
    private static func point(of originator: MessageReader.Element) throws(KeychainError) -> [UInt8] {
        guard originator.tag == DERTag.constructed(1) else {
            throw .unsupportedMessage("a key agreement with the key of a certificate")
        }
        var members = MessageReader(originator.content)
        guard try members.algorithm("the algorithm of the originator").algorithm == .keyCurve else {
            throw .unsupportedMessage("a key agreement without an elliptic curve")
        }
        let bits = try members.required(.bitString, "the key of the originator").content
        try members.requireEnd("the originator")
        // The first byte counts unused bits.
        guard bits.first == 0 else { throw .malformedMessage("the key of the originator is not whole bytes") }
        return Array(bits.dropFirst())
    }

    private static func supported(_ body: () throws(KeychainError) -> EncryptedKey) -> EncryptedKey {
        do throws(KeychainError) {
            return try body()
        } catch {
            return .unsupported(error)
        }
    }
}
