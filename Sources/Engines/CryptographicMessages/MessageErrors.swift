// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

// The errors of this module by their causes.

extension KeychainError {
    /// The bytes violate RFC 5652, or a rule of cms-profile.md: errSecUnknownFormat.
    static func malformedMessage(_ problem: String) -> KeychainError {
        KeychainError(.unknownFormat, "not a CMS message: \(problem)")
    }

    /// A part of RFC 5652 that is not supported: errSecUnimplemented.
    static func unsupportedMessage(_ problem: String) -> KeychainError {
        KeychainError(.unimplemented, "the CMS message is not supported: \(problem)")
    }

    /// A limit of ``MessageLimits`` is exceeded: errSecDataTooLarge.
    static func messageTooLarge(_ problem: String) -> KeychainError {
        KeychainError(.dataTooLarge, "the CMS message is too large: \(problem)")
    }

    /// The one error for a wrong key, a wrong content key and a changed ciphertext: errSecDecode.
    static let notDecrypted = KeychainError(.decode, "the CMS message cannot be decrypted with this key")
}

/// Runs a reader of CertificateTrust. Its errors mean that the message is malformed.
func reading<Result>(_ body: () throws(CertificateError) -> Result) throws(KeychainError) -> Result {
    try withErrors(as: { KeychainError.malformedMessage($0.description) }, body)
}
