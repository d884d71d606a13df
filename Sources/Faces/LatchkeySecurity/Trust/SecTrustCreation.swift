// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeychainModel

// The inputs of an evaluation.

/// Creates a trust object for certificates.
///
/// - Parameters:
///   - certificates: a `SecCertificate`, or an array of them. The first is evaluated; the others
///     help to find a chain.
///   - policies: a `SecPolicy`, or an array of them that must all be satisfied; nil for `SecPolicyCreateBasicX509()`.
///   - trust: the trust object.
/// - Returns: errSecParam if an element is of another class, or there is no certificate.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: Any, _ policies: Any?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let chain: [SecCertificate] = elements(certificates), !chain.isEmpty else { return errSecParam }
    guard let rules: [SecPolicy] = policies.map({ elements($0) }) ?? [] else { return errSecParam }
    trust.pointee = SecTrust(chain, rules.isEmpty ? [SecPolicyCreateBasicX509()] : rules)
    return errSecSuccess
}

/// Returns one object, or an array of them, as an array; nil if any is of another class.
func elements<Element>(_ objects: Any) -> [Element]? {
    // A Swift array: the next cast would convert it to an object.
    if type(of: objects) == [Element].self { return objects as? [Element] }
    if let one = objects as? Element { return [one] }
    guard let several = objects as? [Any] else { return nil }
    let elements = several.compactMap { $0 as? Element }
    return elements.count == several.count ? elements : nil
}

// MARK: Policies

/// Replaces the policies of the following evaluations.
///
/// - Parameters:
///   - trust: the trust object.
///   - policies: a `SecPolicy`, or an array of at least one.
/// - Returns: errSecParam for anything else.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    guard let rules: [SecPolicy] = elements(policies), !rules.isEmpty else { return errSecParam }
    trust.change { $0.policies = rules }
    return errSecSuccess
}

/// Copies the policies, as an array.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = NSArray(array: trust.state.policies)
    return errSecSuccess
}

// MARK: Anchors

/// Sets the trusted certificates. No others are trusted, unless
/// ``SecTrustSetAnchorCertificatesOnly(_:_:)`` is called afterwards with false.
///
/// - Parameters:
///   - trust: the trust object.
///   - anchorCertificates: an array of `SecCertificate`; nil restores the system's anchors.
/// - Returns: errSecParam if an element is of another class.
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

/// Sets whether only the anchors that were set are trusted, or the system's anchors as well.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.isAnchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// Copies the anchors that were set; nil if none were set.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(_ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>)
    -> OSStatus
{
    anchors.pointee = trust.state.anchors.map { NSArray(array: $0) }
    return errSecSuccess
}

/// Copies the anchors that the system configures for all programs.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    anchors.pointee = NSArray(array: SystemAnchors.shared.load().certificates.map(SecCertificate.init))
    return errSecSuccess
}

// MARK: Date, network, exceptions

/// Sets the validation time, in place of the time of the evaluation.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let date = Date(timeIntervalSince1970: verifyDate.timeIntervalSince1970)
    trust.change { $0.date = date }
    return errSecSuccess
}

/// Returns the validation time in seconds since the beginning of 2001; the current time if none was
/// set.
@discardableResult
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    (trust.state.date ?? Date()).timeIntervalSinceReferenceDate
}

/// Sets whether an evaluation may use the network if a policy of `SecPolicyCreateRevocation`
/// requests it.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change { $0.mayFetch = allowFetch }
    return errSecSuccess
}

/// Copies whether an evaluation may use the network.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<Bool>) -> OSStatus {
    allowFetch.pointee = trust.state.mayFetchNow
    return errSecSuccess
}

/// Sets OCSP responses for the evaluation, such as a server sends with its certificates. They are
/// used even if no policy requests revocation.
///
/// - Parameters:
///   - trust: the trust object.
///   - responseData: Data, or an array of Data, each an `OCSPResponse` in DER (RFC 6960); nil
///     removes all responses.
/// - Returns: errSecParam for other objects; errSecOCSPBadResponse if a response cannot be decoded.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: Any?) -> OSStatus {
    guard let bytes: [Data] = responseData.map({ elements($0) }) ?? [] else { return errSecParam }
    let responses = bytes.compactMap { try? OCSPResponse(der: Array($0)) }
    guard responses.count == bytes.count else { return errSecOCSPBadResponse }
    trust.change { $0.responses = responses }
    return errSecSuccess
}

/// Copies the exceptions that a user who trusts this chain nevertheless would allow: an opaque
/// value for ``SecTrustSetExceptions(_:_:)``.
///
/// - Returns: nil if the chain has a failure that allows no exception, such as an invalid signature.
@discardableResult
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    trust.verdict.exceptions.map { NSData(data: Data($0.bytes)) }
}

/// Allows the exceptions that ``SecTrustCopyExceptions(_:)`` returned for the same leaf, and no
/// others. Nil removes the exceptions.
///
/// - Returns: false if the data is for another leaf, or does not hold exceptions.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let given = exceptions.flatMap { TrustExceptions(Array(Data(bytes: $0.bytes, count: $0.length))) }
    let matching = given.flatMap { $0.match(trust.state.certificates[0].body) ? $0 : nil }
    trust.change { $0.exceptions = matching }
    return matching != nil
}
