// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
public import Foundation
internal import KeychainModel

// The signers of a message.

/// The status of a signature.
public enum CMSSignerStatus: UInt32, Sendable {
    /// The message is not signed.
    case unsigned = 0
    /// The signature is valid, and its certificate is trusted if that was asked.
    case valid = 1
    /// The content is detached and was not set.
    case needsDetachedContent = 2
    /// The signature is not one of this content, or is made with SHA-1 or a short key, and these do not protect from a
    /// forger.
    case invalidSignature = 3
    /// The signature is valid, but its certificate is not trusted; or there is no certificate.
    case invalidCert = 4
    /// There is no signer with this index.
    case invalidIndex = 5
}

/// Verifies a signature and its certificate.
///
/// - Parameters:
///   - cmsDecoder: the decoder, after the end of the message.
///   - signerIndex: the signer, from 0.
///   - policyOrArray: a `SecPolicy`, or an array of them, for the certificate.
///   - evaluateSecTrust: whether the certificate is evaluated. If false, the caller evaluates the
///     trust object, and `.valid` says nothing about the certificate.
///   - signerStatusOut: receives the status. Only `.valid` means that the content is the signer's.
///   - secTrustOut: receives the trust object, with the certificates of the message; nil if the
///     signer has no certificate.
///   - certVerifyResultCodeOut: receives the result of the evaluation: errSecSuccess, or why the
///     certificate is not trusted.
/// - Returns: errSecParam before the end of the message or for another policy; errSecSuccess for every
///   status.
@discardableResult
public func CMSDecoderCopySignerStatus(
    _ cmsDecoder: CMSDecoder, _ signerIndex: Int, _ policyOrArray: Any, _ evaluateSecTrust: Bool,
    _ signerStatusOut: UnsafeMutablePointer<CMSSignerStatus>?, _ secTrustOut: UnsafeMutablePointer<SecTrust?>?,
    _ certVerifyResultCodeOut: UnsafeMutablePointer<OSStatus>?
) -> OSStatus {
    status {
        guard let policies: [SecPolicy] = elements(policyOrArray), !policies.isEmpty else {
            throw KeychainError.parameter("expected a SecPolicy, or an array of them")
        }
        let checked = try CheckedSigner(cmsDecoder, signerIndex, policies, evaluates: evaluateSecTrust)
        signerStatusOut?.pointee = checked.status
        secTrustOut?.pointee = checked.trust
        certVerifyResultCodeOut?.pointee = checked.certificateStatus
    }
}

/// Copies the certificate of a signer, of the message or of the keychain. It is not verified.
///
/// - Returns: errSecItemNotFound if there is none, or more than one; errSecParam for another index.
@discardableResult
public func CMSDecoderCopySignerCert(
    _ cmsDecoder: CMSDecoder, _ signerIndex: Int, _ signerCertOut: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    status { signerCertOut.pointee = SecCertificate(try cmsDecoder.certificate(ofSigner: signerIndex)) }
}

/// Copies the first email address of a signer's certificate. It is not verified.
///
/// - Returns: errSecItemNotFound if there is none; errSecParam for another index.
@discardableResult
public func CMSDecoderCopySignerEmailAddress(
    _ cmsDecoder: CMSDecoder, _ signerIndex: Int, _ signerEmailAddressOut: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    status {
        guard let address = try cmsDecoder.certificate(ofSigner: signerIndex).emailAddresses.first else {
            throw KeychainError.itemNotFound
        }
        signerEmailAddressOut.pointee = NSString(string: address)
    }
}

/// Copies the time that a signer claims. Only the signer's clock is behind it.
///
/// - Returns: errSecSigningTimeMissing if there is none; errSecParam for another index.
@discardableResult
public func CMSDecoderCopySignerSigningTime(
    _ cmsDecoder: CMSDecoder, _ signerIndex: Int, _ signingTime: UnsafeMutablePointer<CFAbsoluteTime>
) -> OSStatus {
    status {
        guard let time = try cmsDecoder.signer(signerIndex).signingTime else {
            throw KeychainError(OSStatusCode(rawValue: errSecSigningTimeMissing))
        }
        signingTime.pointee =
            Date(timeIntervalSince1970: Double(time.secondsSince1970)).timeIntervalSinceReferenceDate
    }
}

// MARK: Verdicts

/// The verdict on one signer in the form of the call.
private struct CheckedSigner {
    var status: CMSSignerStatus
    var trust: SecTrust?
    var certificateStatus = errSecSuccess

    init(_ decoder: CMSDecoder, _ index: Int, _ policies: [SecPolicy], evaluates: Bool) throws(KeychainError) {
        let verdicts = try decoder.verdicts()
        guard verdicts.indices.contains(index) else {
            status = verdicts.isEmpty ? .unsigned : .invalidIndex
            return
        }
        let verdict = verdicts[index]
        switch verdict {
        case .valid: status = .valid
        case .weak, .invalid: status = .invalidSignature
        case .needsContent: status = .needsDetachedContent
        case .noCertificate: status = .invalidCert
        }
        guard let certificate = verdict.certificate ?? (try? decoder.certificate(ofSigner: index)) else { return }
        let others = try decoder.message().signed?.certificates.filter { $0 != certificate } ?? []
        let trust = SecTrust(([certificate] + others).map(SecCertificate.init), policies)
        self.trust = trust
        guard evaluates, verdict.certificate != nil else { return }
        let chain = trust.evaluate()
        certificateStatus = chain.failure?.rule.status.rawValue ?? errSecSuccess
        if status == .valid, !chain.isTrusted { status = .invalidCert }
    }
}

extension CMSDecoder {
    fileprivate func signer(_ index: Int) throws(KeychainError) -> MessageSigner {
        guard let signers = try message().signed?.signers, signers.indices.contains(index) else {
            throw .parameter("there is no signer \(index)")
        }
        return signers[index]
    }

    fileprivate func certificate(ofSigner index: Int) throws(KeychainError) -> Certificate {
        let signer = try signer(index)
        guard let signed = try message().signed,
            let certificate = signed.certificate(of: signer, Self.certificates(for: signed))
        else { throw KeychainError(.itemNotFound, "there is no certificate of the signer") }
        return certificate
    }
}
