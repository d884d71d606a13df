// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeychainModel

/// Content with the signatures of any number of signers (`SignedData`, RFC 5652, section 5), not
/// verified. ``verdicts(detachedContent:certificates:)`` verifies.
public struct SignedMessage: Sendable {
    public let contentType: ObjectIdentifier
    /// The signed bytes; nil if they are not in the message.
    public let content: ArraySlice<UInt8>?
    /// The certificates of the message that can be read. Attribute certificates are not among them.
    public let certificates: [Certificate]
    public let signers: [MessageSigner]

    init(_ element: MessageReader.Element, _ limits: MessageLimits) throws(KeychainError) {
        guard element.tag == DERTag.sequence.rawValue else { throw .malformedMessage("SignedData must be a SEQUENCE") }
        var members = MessageReader(element.content)
        guard 1...5 ~= (try members.number("the version of SignedData")) else {
            throw .malformedMessage("the version of SignedData must be 1 to 5")
        }
        // The signers name their digests themselves.
        _ = try members.required(.set, "digestAlgorithms")
        (contentType, content) = try Self.content(try members.required(.sequence, "encapContentInfo").content)
        let included = try members.optional(DERTag.constructed(0))
        certificates = try Self.certificates(included?.content ?? [], limits)
        _ = try members.optional(DERTag.constructed(1))
        signers = try Self.signers(try members.required(.set, "signerInfos").content, limits)
        try members.requireEnd("SignedData")
    }

    private static func content(
        _ content: ArraySlice<UInt8>
    ) throws(KeychainError) -> (ObjectIdentifier, ArraySlice<UInt8>?) {
        var members = MessageReader(content)
        let type = try members.objectIdentifier("eContentType")
        let bytes = try members.optionalExplicit(0, "eContent")
        try members.requireEnd("encapContentInfo")
        guard bytes?.tag ?? DERTag.octetString.rawValue == DERTag.octetString.rawValue else {
            throw .unsupportedMessage("a content that is not an OCTET STRING, as PKCS #7 allowed")
        }
        return (type, bytes?.content)
    }

    private static func certificates(
        _ content: ArraySlice<UInt8>, _ limits: MessageLimits
    ) throws(KeychainError) -> [Certificate] {
        var (reader, count, certificates): (MessageReader, Int, [Certificate]) = (MessageReader(content), 0, [])
        while let element = try reader.next() {
            count += 1
            guard count <= limits.certificates else {
                throw .messageTooLarge("more than \(limits.certificates) certificates")
            }
            guard element.tag == DERTag.sequence.rawValue else { continue }
            // A certificate that cannot be read is no signer's, and does not hide the others.
            if let certificate = try? Certificate(der: Array(element.encoded)) { certificates.append(certificate) }
        }
        return certificates
    }

    private static func signers(
        _ content: ArraySlice<UInt8>, _ limits: MessageLimits
    ) throws(KeychainError) -> [MessageSigner] {
        var (reader, signers): (MessageReader, [MessageSigner]) = (MessageReader(content), [])
        while let element = try reader.next() {
            guard signers.count < limits.signers else { throw .messageTooLarge("more than \(limits.signers) signers") }
            signers.append(try MessageSigner(element, limits))
        }
        return signers
    }
}
