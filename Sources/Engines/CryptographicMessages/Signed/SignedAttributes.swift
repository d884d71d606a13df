// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// The attributes that a signer signs together with the content (RFC 5652, section 5.3).
struct SignedAttributes: Sendable {
    /// The signed bytes: the DER of the attributes as a `SET OF`.
    let der: [UInt8]
    /// The encoded values of each attribute, in the order of the message.
    private let attributes: [(type: ObjectIdentifier, values: [MessageReader.Element])]
    private let isSorted: Bool

    /// - Parameter content: the content of `SET OF Attribute`, with any tag.
    init(_ content: ArraySlice<UInt8>, _ limits: MessageLimits) throws(KeychainError) {
        var (reader, attributes): (MessageReader, [(ObjectIdentifier, [MessageReader.Element])]) =
            (MessageReader(content), [])
        var (last, isSorted): (ArraySlice<UInt8>, Bool) = ([], true)
        while let element = try reader.next() {
            guard attributes.count < limits.attributes else {
                throw .messageTooLarge("a signer has more than \(limits.attributes) attributes")
            }
            isSorted = isSorted && last.lexicographicallyPrecedes(element.encoded)
            last = element.encoded
            attributes.append(try Self.attribute(element, limits))
        }
        guard !attributes.isEmpty else { throw .malformedMessage("signedAttrs is empty") }
        self.attributes = attributes
        self.isSorted = isSorted
        der = DERElement.header(DERTag.set.rawValue, content.count) + content
    }

    private static func attribute(
        _ element: MessageReader.Element, _ limits: MessageLimits
    ) throws(KeychainError) -> (ObjectIdentifier, [MessageReader.Element]) {
        guard element.tag == DERTag.sequence.rawValue else {
            throw .malformedMessage("an attribute must be a SEQUENCE")
        }
        var members = MessageReader(element.content)
        let type = try members.objectIdentifier("the type of an attribute")
        var (reader, values): (MessageReader, [MessageReader.Element]) =
            (MessageReader(try members.required(.set, "the values of an attribute").content), [])
        try members.requireEnd("an attribute")
        while let value = try reader.next() {
            guard values.count < limits.attributes else { throw .messageTooLarge("an attribute has too many values") }
            values.append(value)
        }
        return (type, values)
    }

    // MARK: Values

    /// The digest of the content.
    ///
    /// - Parameter contentType: the type that the attributes must name.
    /// - Throws: if a rule of cms-profile.md, section 3, is violated.
    func messageDigest(contentType: ObjectIdentifier) throws(SignerDefect) -> ArraySlice<UInt8> {
        guard isSorted else { throw SignerDefect("the signed attributes are not in DER: their order differs") }
        guard Set(attributes.map(\.type)).count == attributes.count else {
            throw SignerDefect("a signed attribute occurs twice")
        }
        let type = try only(.contentTypeAttribute, .objectIdentifier, "contentType")
        guard type.elementsEqual(contentType.content) else {
            throw SignerDefect("the signed content type is not that of the message")
        }
        return try only(.messageDigestAttribute, .octetString, "messageDigest")
    }

    /// The time that the signer claims; nil if there is none, or it is malformed.
    var signingTime: CertificateTime? {
        guard let values = attributes.first(where: { $0.type == .signingTimeAttribute })?.values,
            let value = values.first, values.count == 1
        else { return nil }
        return try? CertificateTime(der: value.encoded)
    }

    /// Whether these are the attributes of a signer: bytes that happen to be a `SET` of attributes
    /// are not.
    var areOfSigner: Bool {
        let types = Set(attributes.map(\.type))
        return types.contains(.contentTypeAttribute) && types.contains(.messageDigestAttribute)
    }

    private func only(
        _ type: ObjectIdentifier, _ tag: DERTag, _ name: String
    ) throws(SignerDefect) -> ArraySlice<UInt8> {
        guard let values = attributes.first(where: { $0.type == type })?.values else {
            throw SignerDefect("the signed attribute \(name) is missing")
        }
        guard let value = values.first, values.count == 1, value.tag == tag.rawValue else {
            throw SignerDefect("the signed attribute \(name) must have one value of its type")
        }
        return value.content
    }
}
