// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeychainModel

/// One signer of a message, not verified (`SignerInfo`, RFC 5652, section 5.3).
public struct MessageSigner: Sendable {
    /// The name of the certificate.
    public let identifier: CertificateIdentifier
    /// The algorithm of the content's digest.
    public let digestAlgorithm: AlgorithmIdentifier
    public let signatureAlgorithm: AlgorithmIdentifier
    let signature: ArraySlice<UInt8>
    let attributes: SignedAttributes?

    init(_ element: MessageReader.Element, _ limits: MessageLimits) throws(KeychainError) {
        guard element.tag == DERTag.sequence.rawValue else { throw .malformedMessage("SignerInfo must be a SEQUENCE") }
        var members = MessageReader(element.content)
        // The version follows from the identifier, and nothing from the version.
        guard [1, 3].contains(try members.number("the version of SignerInfo")) else {
            throw .malformedMessage("the version of SignerInfo must be 1 or 3")
        }
        identifier = try CertificateIdentifier(&members)
        digestAlgorithm = try members.algorithm("digestAlgorithm")
        let signed = try members.optional(DERTag.constructed(0))
        // `map` would not keep the typed throw.
        attributes = if let signed { try SignedAttributes(signed.content, limits) } else { nil }
        signatureAlgorithm = try members.algorithm("signatureAlgorithm")
        signature = try members.required(.octetString, "signature").content
        _ = try members.optional(DERTag.constructed(1))
        try members.requireEnd("SignerInfo")
    }

    /// The time that the signer claims. It proves nothing: only the signer's clock is behind it.
    public var signingTime: CertificateTime? { attributes?.signingTime }
}
