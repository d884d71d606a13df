// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
public import Foundation
internal import KeychainModel

// The input of a message, and its encoding. After the encoding every change is refused with errSecParam.

/// Creates an encoder.
@discardableResult
public func CMSEncoderCreate(_ cmsEncoderOut: UnsafeMutablePointer<CMSEncoder?>) -> OSStatus {
    cmsEncoderOut.pointee = CMSEncoder(empty: ())
    return errSecSuccess
}

// MARK: Signers

/// Sets the digest of the signers that are added: `kCMSEncoderDigestAlgorithmSHA256`.
///
/// - Returns: errSecInvalidDigestAlgorithm for SHA-1, errSecParam for other names.
@discardableResult
public func CMSEncoderSetSignerAlgorithm(_ cmsEncoder: CMSEncoder, _ digestAlgorithm: CFString) -> OSStatus {
    switch digestAlgorithm {
    case kCMSEncoderDigestAlgorithmSHA256:
        return status { try cmsEncoder.change { $0.hash = .sha256 } }
    case kCMSEncoderDigestAlgorithmSHA1: return errSecInvalidDigestAlgorithm
    default: return errSecParam
    }
}

/// Adds signers.
///
/// - Parameters:
///   - cmsEncoder: the encoder.
///   - signerOrArray: a `SecIdentity`, or an array of them.
/// - Returns: errSecParam for other objects.
@discardableResult
public func CMSEncoderAddSigners(_ cmsEncoder: CMSEncoder, _ signerOrArray: Any) -> OSStatus {
    guard let signers: [SecIdentity] = elements(signerOrArray) else { return errSecParam }
    return status { try cmsEncoder.change { $0.signers += signers } }
}

/// Copies the signers; nil if there are none.
@discardableResult
public func CMSEncoderCopySigners(_ cmsEncoder: CMSEncoder, _ signersOut: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    signersOut.pointee = array(cmsEncoder.state.signers)
    return errSecSuccess
}

/// Adds attributes that every signer signs; the type and the digest of the content are always
/// signed.
@discardableResult
public func CMSEncoderAddSignedAttributes(_ cmsEncoder: CMSEncoder, _ signedAttributes: CMSSignedAttributes)
    -> OSStatus
{
    status { try cmsEncoder.change { $0.attributes.formUnion(signedAttributes) } }
}

/// Sets the choice of the signers' certificates in the message.
@discardableResult
public func CMSEncoderSetCertificateChainMode(_ cmsEncoder: CMSEncoder, _ chainMode: CMSCertificateChainMode)
    -> OSStatus
{
    status { try cmsEncoder.change { $0.chainMode = chainMode } }
}

/// Copies the choice of the signers' certificates in the message.
@discardableResult
public func CMSEncoderGetCertificateChainMode(
    _ cmsEncoder: CMSEncoder, _ chainModeOut: UnsafeMutablePointer<CMSCertificateChainMode>
) -> OSStatus {
    chainModeOut.pointee = cmsEncoder.state.chainMode
    return errSecSuccess
}

/// Adds certificates to the message. Without signers and recipients the message consists of them.
///
/// - Parameters:
///   - cmsEncoder: the encoder.
///   - certOrArray: a `SecCertificate`, or an array of them.
/// - Returns: errSecParam for other objects.
@discardableResult
public func CMSEncoderAddSupportingCerts(_ cmsEncoder: CMSEncoder, _ certOrArray: Any) -> OSStatus {
    guard let certificates: [SecCertificate] = elements(certOrArray) else { return errSecParam }
    return status { try cmsEncoder.change { $0.supporting += certificates } }
}

/// Copies the certificates that were added to the message; nil if there are none.
@discardableResult
public func CMSEncoderCopySupportingCerts(_ cmsEncoder: CMSEncoder, _ certsOut: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    certsOut.pointee = array(cmsEncoder.state.supporting)
    return errSecSuccess
}

// MARK: Recipients

/// Adds recipients. The message is encrypted for them; only they can read it.
///
/// - Parameters:
///   - cmsEncoder: the encoder.
///   - recipientOrArray: a `SecCertificate`, or an array of them.
/// - Returns: errSecParam for other objects.
@discardableResult
public func CMSEncoderAddRecipients(_ cmsEncoder: CMSEncoder, _ recipientOrArray: Any) -> OSStatus {
    guard let recipients: [SecCertificate] = elements(recipientOrArray) else { return errSecParam }
    return status { try cmsEncoder.change { $0.recipients += recipients } }
}

/// Copies the recipients; nil if there are none.
@discardableResult
public func CMSEncoderCopyRecipients(_ cmsEncoder: CMSEncoder, _ recipientsOut: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    recipientsOut.pointee = array(cmsEncoder.state.recipients)
    return errSecSuccess
}

// MARK: Content

/// Sets whether the content stays out of a signed message.
@discardableResult
public func CMSEncoderSetHasDetachedContent(_ cmsEncoder: CMSEncoder, _ detachedContent: Bool) -> OSStatus {
    status { try cmsEncoder.change { $0.isDetached = detachedContent } }
}

/// Copies whether the content stays out of the message.
@discardableResult
public func CMSEncoderGetHasDetachedContent(
    _ cmsEncoder: CMSEncoder, _ detachedContentOut: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    detachedContentOut.pointee = DarwinBoolean(cmsEncoder.state.isDetached)
    return errSecSuccess
}

/// Sets the type of the content, in place of `1.2.840.113549.1.7.1` for arbitrary bytes.
///
/// - Parameters:
///   - cmsEncoder: the encoder.
///   - eContentTypeOID: the object identifier as a string of numbers and dots.
/// - Returns: errSecParam for anything else.
@discardableResult
public func CMSEncoderSetEncapsulatedContentTypeOID(_ cmsEncoder: CMSEncoder, _ eContentTypeOID: Any) -> OSStatus {
    guard let text = eContentTypeOID as? String, let identifier = ObjectIdentifier(text: text) else {
        return errSecParam
    }
    return status { try cmsEncoder.change { $0.contentType = identifier } }
}

/// Copies the type of the content: the content of the object identifier's DER element.
@discardableResult
public func CMSEncoderCopyEncapsulatedContentType(
    _ cmsEncoder: CMSEncoder, _ eContentTypeOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    eContentTypeOut.pointee = NSData(data: Data(cmsEncoder.state.contentType.content))
    return errSecSuccess
}

/// Appends bytes to the content.
///
/// - Returns: errSecDataTooLarge if the content would have more than 256 MiB.
@discardableResult
public func CMSEncoderUpdateContent(_ cmsEncoder: CMSEncoder, _ content: UnsafeRawPointer, _ contentLen: Int)
    -> OSStatus
{
    status {
        try cmsEncoder.change { (state) throws(KeychainError) in
            try state.content.append(content, contentLen)
        }
    }
}

// MARK: Encoding

/// Returns the message in DER. This is the end of the encoder's use.
///
/// - Returns: errSecParam if there is neither a signer nor a recipient nor a certificate, or the
///   content of an encrypted message is detached; errSecKeyUsageIncorrect if the certificate of a
///   recipient is not for encryption; errSecUnimplemented for unsupported attributes; the statuses of
///   `SecKeyCreateSignature`.
@discardableResult
public func CMSEncoderCopyEncodedContent(
    _ cmsEncoder: CMSEncoder, _ encodedContentOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    status { encodedContentOut.pointee = NSData(data: Data(try cmsEncoder.encode())) }
}

/// Writes a message in one call.
///
/// - Parameters:
///   - signers: a `SecIdentity`, an array of them, or nil.
///   - recipients: a `SecCertificate`, an array of them, or nil.
///   - eContentTypeOID: the type of the content as a string of numbers and dots; nil for arbitrary
///     bytes.
///   - detachedContent: whether the content stays out of the message.
///   - signedAttributes: attributes that every signer signs.
///   - content: the content.
///   - contentLen: its length.
///   - encodedContentOut: receives the message in DER.
/// - Returns: as the functions for the parts and ``CMSEncoderCopyEncodedContent(_:_:)``.
@discardableResult
public func CMSEncodeContent(
    _ signers: Any?, _ recipients: Any?, _ eContentTypeOID: Any?, _ detachedContent: Bool,
    _ signedAttributes: CMSSignedAttributes, _ content: UnsafeRawPointer, _ contentLen: Int,
    _ encodedContentOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    guard signers != nil || recipients != nil else { return errSecParam }
    let encoder = CMSEncoder(empty: ())
    let parts = [
        signers.map { CMSEncoderAddSigners(encoder, $0) }, recipients.map { CMSEncoderAddRecipients(encoder, $0) },
        eContentTypeOID.map { CMSEncoderSetEncapsulatedContentTypeOID(encoder, $0) },
        CMSEncoderSetHasDetachedContent(encoder, detachedContent),
        CMSEncoderAddSignedAttributes(encoder, signedAttributes),
        CMSEncoderUpdateContent(encoder, content, contentLen),
    ]
    let failure = parts.compactMap(\.self).first { $0 != errSecSuccess }
    return failure ?? CMSEncoderCopyEncodedContent(encoder, encodedContentOut)
}

private func array(_ objects: [NSObject]) -> CFArray? { objects.isEmpty ? nil : NSArray(array: objects) }

extension [UInt8] {
    /// Appends bytes of the caller, up to the size of a message.
    mutating func append(_ bytes: UnsafeRawPointer, _ count: Int) throws(KeychainError) {
        guard count >= 0 else { throw .parameter("a length is negative") }
        guard count <= MessageLimits.standard.byteCount - self.count else {
            throw KeychainError(.dataTooLarge, "a message may have \(MessageLimits.standard.byteCount >> 20) MiB")
        }
        self += UnsafeRawBufferPointer(start: bytes, count: count)
    }
}
