// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem

// What a certificate says.

/// The certificate's DER bytes, exactly as they were given.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    NSData(data: certificate.der)
}

/// Whom the certificate is about, for people: the common name, else the unit, the organisation, an address of mail or a host; nil where there
/// is none of them.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.body.subjectSummary.map { NSString(string: $0) }
}

/// The certificate in a few words for people: its subject's summary, else the issuer's name; nil where it names neither.
///
/// - Parameters:
///   - alloc: not used.
///   - error: receives nothing: the description of a certificate does not fail.
@discardableResult
public func SecCertificateCopyShortDescription(
    _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFString? {
    let certificate = certificate.body
    let issuer = certificate.issuer.isEmpty ? nil : "a certificate of \(certificate.issuer)"
    return (certificate.subjectSummary ?? issuer).map { NSString(string: PrintableText($0).string) }
}

/// The certificate for people, a line each: subject, issuer, serial number, validity, public key, signature and SHA-256.
///
/// - Parameters:
///   - alloc: not used.
///   - error: receives nothing: the description of a certificate does not fail.
@discardableResult
public func SecCertificateCopyLongDescription(
    _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFString? {
    let certificate = certificate.body
    func spaced(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02X", $0) }.joined(separator: " ")
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

/// The subject's common name, the last where there are several; nil where there is none.
///
/// - Returns: errSecSuccess, also where there is none.
@discardableResult
public func SecCertificateCopyCommonName(_ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>)
    -> OSStatus
{
    commonName.pointee = certificate.body.commonName.map { NSString(string: $0) }
    return errSecSuccess
}

/// The addresses of mail of the alternative names and of the subject; an empty array where there are none.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = NSArray(array: certificate.body.emailAddresses)
    return errSecSuccess
}

/// The issuer's name in the form that is equal for equal names: DER with every string in UTF-8, lower case and single spaces.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.issuer.normalized))
}

/// The subject's name in the form that is equal for equal names, as ``SecCertificateCopyNormalizedIssuerSequence(_:)`` gives the issuer's.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.subject.normalized))
}

/// The serial number as it stands in the certificate: big-endian, in two's complement.
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

/// The first moment at which the certificate is valid.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.body.validity.notBefore.secondsSince1970))
}

/// The last moment at which the certificate is valid.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    NSDate(timeIntervalSince1970: Double(certificate.body.validity.notAfter.secondsSince1970))
}

// MARK: Keys

/// The public key; nil where its algorithm is not one that `SecKey` serves.
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
    // A point's length tells its curve: a curve of the same length that is not served would pass for another.
    guard let key, info.isOn(bits: key.kind.bits) else { return nil }
    return SecKey(.publicKey(key))
}

/// The older name of ``SecCertificateCopyKey(_:)``.
@available(*, deprecated, renamed: "SecCertificateCopyKey")
@discardableResult
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}

/// SHA-256 of the whole SubjectPublicKeyInfo, algorithm and all: what pins are, equal to
/// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256`.
@discardableResult
public func SecCertificateCopySubjectPublicKeyInfoSHA256Digest(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.publicKey.sha256))
}

/// SHA-256 of the certificate's bytes.
@discardableResult
public func SecCertificateCopySHA256Digest(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(certificate.body.sha256))
}
