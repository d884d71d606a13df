// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem

// The content of a certificate.

/// Returns the certificate's DER bytes, exactly as they were given.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// Returns a summary of the subject for display: the first that exists of common name,
/// organizational unit, organization, email address and host name; nil if there is none.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.body.subjectSummary.map { NSString(string: $0) }
}

/// Returns a short description of the certificate for display: the summary of its subject, else the
/// issuer's name; nil if it names neither.
///
/// - Parameters:
///   - alloc: not used.
///   - certificate: the certificate.
///   - error: not used; the description cannot fail.
@discardableResult
public func SecCertificateCopyShortDescription(
    _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFString? {
    let certificate = certificate.body
    let issuer = certificate.issuer.isEmpty ? nil : "a certificate of \(certificate.issuer)"
    return (certificate.subjectSummary ?? issuer).map { NSString(string: PrintableText($0).string) }
}

/// Returns a description of the certificate for display, with one line each for subject, issuer,
/// serial number, validity, public key, signature and SHA-256.
///
/// - Parameters:
///   - alloc: not used.
///   - certificate: the certificate.
///   - error: not used; the description cannot fail.
@discardableResult
public func SecCertificateCopyLongDescription(
    _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFString? {
    let certificate = certificate.body
    func spaced(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { Hexadecimal.text($0, isUppercase: true) }.joined(separator: " ")
    }
    let parts = [
        ("Subject", "\(certificate.subject)"), ("Issuer", "\(certificate.issuer)"),
        ("Serial number", spaced(certificate.serialNumber)),
        ("Not valid before", "\(certificate.validity.notBefore)"),
        ("Not valid after", "\(certificate.validity.notAfter)"),
        ("Public key", "\(certificate.publicKey)"), ("Signature", certificate.signatureName),
        ("SHA-256", spaced(certificate.sha256)),
    ]
    let lines = parts.map { label, value in "\(label): \(PrintableText(value).string)" }
    return NSString(string: lines.joined(separator: "\n"))
}

/// Copies the subject's common name: the last if there are several, nil if there is none.
///
/// - Returns: errSecSuccess, also if there is no common name.
@discardableResult
public func SecCertificateCopyCommonName(_ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>)
    -> OSStatus
{
    commonName.pointee = certificate.body.commonName.map { NSString(string: $0) }
    return errSecSuccess
}

/// Copies the email addresses of the subject alternative names and of the subject; an empty array
/// if there are none.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = NSArray(array: certificate.body.emailAddresses)
    return errSecSuccess
}

/// Returns the issuer's name in normalized form: DER with every string in UTF-8, in lower case and
/// with single spaces. Equal names have equal normalized forms.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.issuer.normalized))
}

/// Returns the subject's name in the normalized form of
/// ``SecCertificateCopyNormalizedIssuerSequence(_:)``.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.subject.normalized))
}

/// Returns the serial number as it is encoded in the certificate: big-endian, in two's complement.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    NSData(data: Data(certificate.body.serialNumber))
}

/// The older name of ``SecCertificateCopySerialNumberData(_:_:)``.
@available(*, deprecated, renamed: "SecCertificateCopySerialNumberData")
@discardableResult
public func SecCertificateCopySerialNumber(_ certificate: SecCertificate) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, nil)
}

/// Returns the start of the validity period.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.body.validity.notBefore.secondsSince1970))
}

/// Returns the end of the validity period.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.body.validity.notAfter.secondsSince1970))
}

// MARK: Keys

/// Returns the public key; nil if `SecKey` does not support its algorithm.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    let info = certificate.body.publicKey
    let type: KeyType
    switch info.kind {
    case .rsa: type = .rsa
    case .ellipticCurve: type = .ellipticCurve
    case .ed25519, .other: return nil
    }
    let key = info.key.withUnsafeBytes { try? PublicKey(external: $0, type: type) }
    // The length of a point determines the curve. An unsupported curve with points of the same
    // length must not be taken for a supported one.
    guard let key, info.isOn(bits: key.kind.bits) else { return nil }
    return SecKey(.publicKey(key))
}

/// The older name of ``SecCertificateCopyKey(_:)``.
@available(*, deprecated, renamed: "SecCertificateCopyKey")
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}

/// Copies the public key: the form of macOS.
///
/// - Returns: errSecSuccess; errSecUnsupportedKeyFormat, and a nil key, if `SecKey` does not support the algorithm.
@available(*, deprecated, renamed: "SecCertificateCopyKey(_:)")
@discardableResult
public func SecCertificateCopyPublicKey(
    _ certificate: SecCertificate, _ key: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    key.pointee = SecCertificateCopyKey(certificate)
    return key.pointee == nil ? errSecUnsupportedKeyFormat : errSecSuccess
}

/// Returns SHA-256 of the complete SubjectPublicKeyInfo, including the algorithm. This is the value
/// that pins use, equal to
/// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256`.
@discardableResult
public func SecCertificateCopySubjectPublicKeyInfoSHA256Digest(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.publicKey.sha256))
}

/// Returns SHA-256 of the certificate's bytes.
@discardableResult
public func SecCertificateCopySHA256Digest(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.sha256))
}
