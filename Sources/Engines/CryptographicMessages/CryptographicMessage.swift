// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
public import KeychainModel

/// A message of the Cryptographic Message Syntax (RFC 5652), decoded but not verified and not
/// decrypted.
///
/// BER is accepted as well as DER. Documentation/Formats/cms-profile.md lists the supported parts.
public enum CryptographicMessage: Sendable {
    /// Content without protection.
    case data(ArraySlice<UInt8>)
    case signed(SignedMessage)
    case enveloped(EnvelopedMessage)

    /// Decodes a `ContentInfo` without trailing bytes.
    ///
    /// - Throws: errSecUnknownFormat if the bytes are not a message, errSecDataTooLarge if a limit
    ///   is exceeded, errSecUnimplemented for a type that is not supported.
    public init(_ bytes: [UInt8], limits: MessageLimits = .standard) throws(KeychainError) {
        let der = try DERConversion.der(of: bytes, limits: limits)
        var outer = MessageReader(der[...])
        var info = MessageReader(try outer.required(.sequence, "ContentInfo").content)
        try outer.requireEnd("the message")
        let type = try info.objectIdentifier("contentType")
        if let name = Self.refused[type] { throw .unsupportedMessage("\(name) is not supported") }
        let content = try info.explicit(0, "the content of the message")
        try info.requireEnd("ContentInfo")
        try self.init(type: type, content, limits)
    }

    /// Decodes the content of another message, such as the SignedData that was encrypted.
    ///
    /// - Parameters:
    ///   - type: the content type that the outer message names.
    ///   - content: for `id-data` the bytes themselves, for other types their encoding.
    public init(
        type: ObjectIdentifier, content: [UInt8], limits: MessageLimits = .standard
    ) throws(KeychainError) {
        guard type != .cmsData else {
            self = .data(content[...])
            return
        }
        if let name = Self.refused[type] { throw .unsupportedMessage("\(name) is not supported") }
        let der = try DERConversion.der(of: content, limits: limits)
        var outer = MessageReader(der[...])
        guard let element = try outer.next() else { throw .malformedMessage("the content is empty") }
        try outer.requireEnd("the content")
        try self.init(type: type, element, limits)
    }

    private init(
        type: ObjectIdentifier, _ content: MessageReader.Element, _ limits: MessageLimits
    ) throws(KeychainError) {
        switch type {
        case .cmsData:
            guard content.tag == DERTag.octetString.rawValue else {
                throw .malformedMessage("the content of id-data must be an OCTET STRING")
            }
            self = .data(content.content)
        case .cmsSignedData: self = .signed(try SignedMessage(content, limits))
        case .cmsEnvelopedData: self = .enveloped(try EnvelopedMessage(content, limits))
        default: throw .unsupportedMessage("the content type \(type) is not supported")
        }
    }

    /// The types of RFC 5652 and its extensions that are refused by name.
    private static let refused: [ObjectIdentifier: String] = [
        ObjectIdentifier(1, 2, 840, 113549, 1, 7, 5): "DigestedData",
        ObjectIdentifier(1, 2, 840, 113549, 1, 7, 6): "EncryptedData",
        ObjectIdentifier(1, 2, 840, 113549, 1, 9, 16, 1, 2): "AuthenticatedData",
        ObjectIdentifier(1, 2, 840, 113549, 1, 9, 16, 1, 9): "CompressedData",
        ObjectIdentifier(1, 2, 840, 113549, 1, 9, 16, 1, 23): "AuthEnvelopedData",
    ]
}
