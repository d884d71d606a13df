// SPDX-License-Identifier: Apache-2.0

// The constants of encoders.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString.

public import Foundation

/// SHA-1 as the digest of signers. It is refused with errSecInvalidDigestAlgorithm, because a
/// signature with it does not protect from a forger.
nonisolated(unsafe) public let kCMSEncoderDigestAlgorithmSHA1: CFString = "sha1"
/// SHA-256 as the digest of signers, the default.
nonisolated(unsafe) public let kCMSEncoderDigestAlgorithmSHA256: CFString = "sha256"

/// Attributes that signers sign in addition to the content.
public struct CMSSignedAttributes: OptionSet, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt32
    /// A set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The ciphers that the signer can decrypt.
    public static let attrSmimeCapabilities = CMSSignedAttributes(rawValue: 0x01)
    /// The certificate for answers. Not supported: encoding fails with errSecUnimplemented.
    public static let attrSmimeEncryptionKeyPrefs = CMSSignedAttributes(rawValue: 0x02)
    /// The same for Microsoft's programs. Not supported.
    public static let attrSmimeMSEncryptionKeyPrefs = CMSSignedAttributes(rawValue: 0x04)
    /// The time of the signer's clock.
    public static let attrSigningTime = CMSSignedAttributes(rawValue: 0x08)
    /// Digests of code. Not supported.
    public static let attrAppleCodesigningHashAgility = CMSSignedAttributes(rawValue: 0x10)
    /// Digests of code. Not supported.
    public static let attrAppleCodesigningHashAgilityV2 = CMSSignedAttributes(rawValue: 0x20)
    /// The expiration time of the signature. Not supported.
    public static let attrAppleExpirationTime = CMSSignedAttributes(rawValue: 0x40)
}

/// The choice of a signer's certificates in a message.
public enum CMSCertificateChainMode: UInt32, Sendable {
    /// None.
    case none = 0
    /// The certificate of the signer.
    case signerOnly = 1
    /// The chain without its root, the default.
    case chain = 2
    /// The whole chain.
    case chainWithRoot = 3
    /// The whole chain; encoding fails with errSecCreateChainFailed if the root is not found.
    case chainWithRootOrFail = 4
}
