// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
public import Foundation
internal import KeychainModel

// The input of a decoder, and the content of its message.

/// Creates a decoder.
@discardableResult
public func CMSDecoderCreate(_ cmsDecoderOut: UnsafeMutablePointer<CMSDecoder?>) -> OSStatus {
    cmsDecoderOut.pointee = CMSDecoder(empty: ())
    return errSecSuccess
}

/// Appends bytes to the message.
///
/// - Returns: errSecParam after ``CMSDecoderFinalizeMessage(_:)``; errSecDataTooLarge if the message
///   would have more than 256 MiB.
@discardableResult
public func CMSDecoderUpdateMessage(_ cmsDecoder: CMSDecoder, _ msgBytes: UnsafeRawPointer, _ msgBytesLen: Int)
    -> OSStatus
{
    status {
        try cmsDecoder.change { (state) throws(KeychainError) in
            guard state.message == nil else { throw .parameter("the message was already ended") }
            try state.bytes.append(msgBytes, msgBytesLen)
        }
    }
}

/// Ends the message: decodes it, and decrypts it with a private key of the keychain if it is
/// encrypted.
///
/// - Returns: errSecUnknownFormat if the bytes are not a message; errSecUnimplemented for a type that
///   is not supported; errSecItemNotFound if the keychain has no key of a recipient; errSecDecode if
///   the content cannot be decrypted; the statuses of `SecKeyCreateDecryptedData`.
@discardableResult
public func CMSDecoderFinalizeMessage(_ cmsDecoder: CMSDecoder) -> OSStatus {
    status {
        let state = cmsDecoder.state
        guard state.message == nil else { throw KeychainError.parameter("the message was already ended") }
        let message = try DecodedMessage(state.bytes)
        try cmsDecoder.change { $0.message = message }
    }
}

/// Accepted and ignored: the keychains of the search list are used.
@discardableResult
public func CMSDecoderSetSearchKeychain(_ cmsDecoder: CMSDecoder, _ keychainOrArray: Any) -> OSStatus {
    errSecSuccess
}

/// Sets the content of a message with detached signatures, before or after the message.
@discardableResult
public func CMSDecoderSetDetachedContent(_ cmsDecoder: CMSDecoder, _ detachedContent: CFData) -> OSStatus {
    status {
        let bytes = Array(Data(bytes: detachedContent.bytes, count: detachedContent.length))
        try cmsDecoder.change { $0.detachedContent = bytes }
    }
}

/// Copies the content that was set; nil if none was.
@discardableResult
public func CMSDecoderCopyDetachedContent(
    _ cmsDecoder: CMSDecoder, _ detachedContentOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    detachedContentOut.pointee = cmsDecoder.state.detachedContent.map { NSData(data: Data($0)) }
    return errSecSuccess
}

// MARK: The message

/// Copies the number of signers; 0 if the message is not signed. Returns errSecParam before the end
/// of the message, as the functions below do.
@discardableResult
public func CMSDecoderGetNumSigners(_ cmsDecoder: CMSDecoder, _ numSignersOut: UnsafeMutablePointer<Int>) -> OSStatus {
    status { numSignersOut.pointee = try cmsDecoder.message().signed?.signers.count ?? 0 }
}

/// Copies whether the content was encrypted.
@discardableResult
public func CMSDecoderIsContentEncrypted(
    _ cmsDecoder: CMSDecoder, _ isEncryptedOut: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    status { isEncryptedOut.pointee = DarwinBoolean(try cmsDecoder.message().isEncrypted) }
}

/// Copies the type of the content: the content of the object identifier's DER element.
@discardableResult
public func CMSDecoderCopyEncapsulatedContentType(
    _ cmsDecoder: CMSDecoder, _ eContentTypeOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    status { eContentTypeOut.pointee = NSData(data: Data(try cmsDecoder.message().contentType.content)) }
}

/// Copies the certificates of the message; nil if there are none. They are not verified.
@discardableResult
public func CMSDecoderCopyAllCerts(_ cmsDecoder: CMSDecoder, _ certsOut: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    status {
        let certificates = try cmsDecoder.message().signed?.certificates ?? []
        certsOut.pointee = certificates.isEmpty ? nil : NSArray(array: certificates.map(SecCertificate.init))
    }
}

/// Copies the content; nil if it is detached.
///
/// The content is returned whether or not the signatures are valid, as on Apple's platforms: check
/// ``CMSDecoderCopySignerStatus(_:_:_:_:_:_:_:)`` of every signer first.
@discardableResult
public func CMSDecoderCopyContent(_ cmsDecoder: CMSDecoder, _ contentOut: UnsafeMutablePointer<CFData?>) -> OSStatus {
    status { contentOut.pointee = try cmsDecoder.message().content.map { NSData(data: $0) } }
}
