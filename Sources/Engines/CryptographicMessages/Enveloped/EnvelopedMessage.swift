// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeychainModel

/// Content that only the recipients can decrypt (`EnvelopedData`, RFC 5652, section 6).
///
/// Anyone can make such a message, and change it: it does not prove who sent it.
public struct EnvelopedMessage: Sendable {
    /// The type of the encrypted content, such as `id-signedData`.
    public let contentType: ObjectIdentifier
    /// The recipients that certificates name.
    public let recipients: [MessageRecipient]
    let cipher: ContentCipher
    let vector: [UInt8]
    let ciphertext: ArraySlice<UInt8>

    init(_ element: MessageReader.Element, _ limits: MessageLimits) throws(KeychainError) {
        guard element.tag == DERTag.sequence.rawValue else {
            throw .malformedMessage("EnvelopedData must be a SEQUENCE")
        }
        var members = MessageReader(element.content)
        guard 0...4 ~= (try members.number("the version of EnvelopedData")) else {
            throw .malformedMessage("the version of EnvelopedData must be 0 to 4")
        }
        _ = try members.optional(DERTag.constructed(0))
        recipients = try Self.recipients(try members.required(.set, "recipientInfos").content, limits)
        var info = MessageReader(try members.required(.sequence, "encryptedContentInfo").content)
        _ = try members.optional(DERTag.constructed(1))
        try members.requireEnd("EnvelopedData")
        contentType = try info.objectIdentifier("contentType")
        (cipher, vector) = try ContentCipher.of(try info.algorithm("contentEncryptionAlgorithm"))
        ciphertext = try Self.ciphertext(&info)
        try info.requireEnd("encryptedContentInfo")
    }

    private static func recipients(
        _ content: ArraySlice<UInt8>, _ limits: MessageLimits
    ) throws(KeychainError) -> [MessageRecipient] {
        var (reader, count, recipients): (MessageReader, Int, [MessageRecipient]) = (MessageReader(content), 0, [])
        while let element = try reader.next() {
            recipients += try MessageRecipient.all(in: element, limits)
            count += 1
            guard max(count, recipients.count) <= limits.recipients else {
                throw .messageTooLarge("more than \(limits.recipients) recipients")
            }
        }
        return recipients
    }

    /// Reads `[0] IMPLICIT OCTET STRING`. BER allows it in segments.
    private static func ciphertext(_ info: inout MessageReader) throws(KeychainError) -> ArraySlice<UInt8> {
        if let whole = try info.optional(DERTag.primitive(0)) { return whole.content }
        guard let outer = try info.optional(DERTag.constructed(0)) else {
            throw .unsupportedMessage("a ciphertext outside of the message")
        }
        var (segments, ciphertext): (MessageReader, [UInt8]) = (MessageReader(outer.content), [])
        while let segment = try segments.next() {
            guard segment.tag == DERTag.octetString.rawValue else {
                throw .malformedMessage("a segment of the ciphertext must be an OCTET STRING")
            }
            ciphertext += segment.content
        }
        return ciphertext[...]
    }
}
