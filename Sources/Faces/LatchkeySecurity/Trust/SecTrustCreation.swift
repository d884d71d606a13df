// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeychainModel

// What is judged, and by what.

/// A trust object for some certificates.
///
/// - Parameters:
///   - certificates: a `SecCertificate`, or an array of them with the one to be judged first; the others help to find a chain.
///   - policies: a `SecPolicy`, or an array of them, all of which have to be kept; nil for `SecPolicyCreateBasicX509()`.
/// - Returns: errSecParam where one of them is something else, or there is no certificate.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: Any, _ policies: Any?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let chain: [SecCertificate] = elements(certificates), !chain.isEmpty else { return errSecParam }
    guard let rules: [SecPolicy] = policies.map({ elements($0) }) ?? [] else { return errSecParam }
    trust.pointee = SecTrust(chain, rules.isEmpty ? [SecPolicyCreateBasicX509()] : rules)
    return errSecSuccess
}

/// One object, or an array of them; nil where anything is of another class.
private func elements<Element>(_ objects: Any) -> [Element]? {
    if let one = objects as? Element { return [one] }
    guard let several = objects as? [Any] else { return nil }
    let elements = several.compactMap { $0 as? Element }
    return elements.count == several.count ? elements : nil
}

// MARK: Policies

/// Judges by other policies from now on.
///
/// - Parameter policies: a `SecPolicy`, or an array of at least one.
/// - Returns: errSecParam for anything else.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    guard let rules: [SecPolicy] = elements(policies), !rules.isEmpty else { return errSecParam }
    trust.change { $0.policies = rules }
    return errSecSuccess
}

/// The policies, in an array.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = NSArray(array: trust.state.policies)
    return errSecSuccess
}

// MARK: Anchors

/// Trusts these certificates, and no others unless ``SecTrustSetAnchorCertificatesOnly(_:_:)`` says so afterwards.
///
/// - Parameter anchorCertificates: an array of `SecCertificate`; nil for the system's anchors again.
/// - Returns: errSecParam where one of them is something else.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    guard let anchorCertificates else {
        trust.change { ($0.anchors, $0.isAnchorsOnly) = (nil, nil) }
        return errSecSuccess
    }
    guard let anchors: [SecCertificate] = elements(anchorCertificates) else { return errSecParam }
    trust.change { ($0.anchors, $0.isAnchorsOnly) = (anchors, true) }
    return errSecSuccess
}

/// Whether the anchors that were set are the only ones, or the system's count beside them.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.isAnchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// The anchors that were set; nil where none were.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(_ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    anchors.pointee = trust.state.anchors.map { NSArray(array: $0) }
    return errSecSuccess
}

/// The anchors that the system has all programs trust.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    anchors.pointee = NSArray(array: SystemAnchors.shared.load().certificates.map(SecCertificate.init))
    return errSecSuccess
}

// MARK: Date, network, exceptions

/// Judges for a moment other than that of the evaluation.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let date = Date(timeIntervalSince1970: verifyDate.timeIntervalSince1970)
    trust.change { $0.date = date }
    return errSecSuccess
}

/// The moment that is judged for, in seconds since the beginning of 2001; now, where none was set.
@discardableResult
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    (trust.state.date ?? Date()).timeIntervalSinceReferenceDate
}

/// Whether an evaluation may ask the network, where a policy of `SecPolicyCreateRevocation` wants it.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change { $0.mayFetch = allowFetch }
    return errSecSuccess
}

/// Whether an evaluation may ask the network.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<Bool>) -> OSStatus {
    allowFetch.pointee = trust.state.mayFetchNow
    return errSecSuccess
}

/// Judges by answers of OCSP as well, such as a server sends with its certificates. They count also where no policy asks for them.
///
/// - Parameter responseData: Data, or an array of it, each an `OCSPResponse` in DER (RFC 6960); nil for none any more.
/// - Returns: errSecParam for other objects; errSecOCSPBadResponse where one cannot be read.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: Any?) -> OSStatus {
    guard let bytes: [Data] = responseData.map({ elements($0) }) ?? [] else { return errSecParam }
    let responses = bytes.compactMap { try? OCSPResponse(der: Array($0)) }
    guard responses.count == bytes.count else { return errSecOCSPBadResponse }
    trust.change { $0.responses = responses }
    return errSecSuccess
}

/// What a user who trusts this chain nevertheless would overlook: an opaque value, to be kept for ``SecTrustSetExceptions(_:_:)``.
///
/// - Returns: nil where something is wrong that nobody may overlook, such as a signature that does not verify.
@discardableResult
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    trust.verdict.exceptions.map { NSData(data: Data($0.bytes)) }
}

/// Overlooks what ``SecTrustCopyExceptions(_:)`` gave for the same leaf; nothing more, and nothing again with nil.
///
/// - Returns: false where they are for another leaf, or are none.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let given = exceptions.flatMap { TrustExceptions(Array(Data(bytes: $0.bytes, count: $0.length))) }
    let matching = given.flatMap { $0.match(trust.state.certificates[0].body) ? $0 : nil }
    trust.change { $0.exceptions = matching }
    return matching != nil
}
