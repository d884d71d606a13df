// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Dispatch
public import Foundation
internal import KeychainModel

// Evaluation.

/// Returns whether the certificate is trusted. Waits up to ten seconds for the network if a policy
/// of ``SecPolicyCreateRevocation(_:)`` requests it.
///
/// - Parameters:
///   - trust: the trust object.
///   - error: receives, if the certificate is not trusted, an error in NSOSStatusErrorDomain: Apple's code
///     (errSecCertificateExpired, errSecHostNameMismatch, errSecNotTrusted, …) and an explanation with the expected and
///     the found state.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let verdict = trust.evaluateForProgram()
    error?.pointee = verdict.error
    return verdict.isTrusted
}

/// Evaluates on a queue.
///
/// - Parameters:
///   - trust: the trust object.
///   - queue: the queue that runs the evaluation and calls `result`.
///   - result: receives the trust object, whether it is trusted, and the error of
///     ``SecTrustEvaluateWithError(_:_:)``.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping @Sendable (SecTrust, Bool, CFError?) -> Void
) -> OSStatus {
    queue.async {
        let verdict = trust.evaluateForProgram()
        result(trust, verdict.isTrusted, verdict.error)
    }
    return errSecSuccess
}

/// Evaluates and returns only the result type.
@available(*, deprecated, renamed: "SecTrustEvaluateWithError")
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.evaluateForProgram().resultType
    return errSecSuccess
}

/// Evaluates on a queue and returns only the result type.
@available(*, deprecated, renamed: "SecTrustEvaluateAsyncWithError")
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping @Sendable (SecTrust, SecTrustResultType) -> Void
) -> OSStatus {
    (queue ?? .global()).async { result(trust, trust.evaluateForProgram().resultType) }
    return errSecSuccess
}

/// Copies the result of the last evaluation; `.invalid` if there was none since the last change.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.state.verdict?.resultType ?? .invalid
    return errSecSuccess
}

// MARK: Results

/// Copies the chain, from the evaluated certificate to the anchor. If there is no chain, copies the
/// certificates of the most successful attempt. Evaluates first if there is no result yet.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    NSArray(array: trust.verdict.chain.map(SecCertificate.init))
}

/// Returns the number of certificates in the chain. Evaluates first if there is no result yet.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    trust.verdict.chain.count
}

/// Returns a certificate of the chain, where 0 is the evaluated one; nil if the index is out of
/// range.
@available(*, deprecated, renamed: "SecTrustCopyCertificateChain")
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.verdict.chain
    return chain.indices.contains(index) ? SecCertificate(chain[index]) : nil
}

/// Copies the public key of the evaluated certificate, whether or not it is trusted; nil if its
/// algorithm is unsupported.
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    SecCertificateCopyKey(trust.state.certificates[0])
}

/// The older name of ``SecTrustCopyKey(_:)``.
@available(*, deprecated, renamed: "SecTrustCopyKey")
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? {
    SecTrustCopyKey(trust)
}

/// Copies the result of the last evaluation: `kSecTrustEvaluationDate` (Date),
/// `kSecTrustResultValue` (a number of `SecTrustResultType`) and, if every certificate is confirmed
/// not revoked, `kSecTrustRevocationChecked` (true) and `kSecTrustRevocationValidUntilDate` (Date);
/// nil if there was no evaluation.
@discardableResult
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    guard let verdict = trust.state.verdict else { return nil }
    var result: [CFString: Any] = [
        kSecTrustEvaluationDate: Date(timeIntervalSince1970: verdict.validationTime),
        kSecTrustResultValue: NSNumber(value: verdict.result.rawValue),
    ]
    if let end = verdict.revocationKnownUntil {
        result[kSecTrustRevocationChecked] = true
        result[kSecTrustRevocationValidUntilDate] = Date(timeIntervalSince1970: end)
    }
    return NSDictionary(dictionary: result)
}

/// Copies the failures of each certificate of the chain: an array of dictionaries with
/// `kSecPropertyTypeTitle` and, for a certificate with failures, `kSecPropertyTypeError`.
@discardableResult
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    let verdict = trust.verdict
    let properties = verdict.chain.enumerated().map { index, certificate in
        var property: [CFString: Any] = [kSecPropertyTypeTitle: certificate.subjectSummary ?? ""]
        let wrong = verdict.failures.filter { $0.index == index }.map(\.explanation)
        if !wrong.isEmpty { property[kSecPropertyTypeError] = wrong.joined(separator: "; ") }
        return NSDictionary(dictionary: property)
    }
    return NSArray(array: properties)
}

extension TrustVerdict {
    fileprivate var resultType: SecTrustResultType { SecTrustResultType(rawValue: result.rawValue) ?? .otherError }

    /// Nil if the chain is trusted.
    fileprivate var error: CFError? { failure.map { TrustError(self, $0) } }
}

/// The reason why a chain is not trusted. The explanations are composed when they are read, so that
/// a program that uses only the code does not pay for them.
///
/// Its Sendable is unchecked because NSError's is. This class only adds an immutable value.
private final class TrustError: NSError, @unchecked Sendable {
    private let verdict: TrustVerdict
    private let failure: TrustFailure

    init(_ verdict: TrustVerdict, _ failure: TrustFailure) {
        self.verdict = verdict
        self.failure = failure
        super.init(domain: NSOSStatusErrorDomain, code: Int(failure.rule.status.rawValue))
    }

    required init?(coder: NSCoder) { nil }

    override var userInfo: [String: Any] {
        var explanations: [String: Any] = [:]
        explanations[NSLocalizedDescriptionKey] = localizedDescription
        explanations[NSLocalizedFailureReasonErrorKey] = localizedFailureReason
        return explanations
    }

    // Not from `userInfo`: the other failures can cost signature verifications.
    override var localizedDescription: String { verdict.explanation(failure) }

    override var localizedFailureReason: String? {
        verdict.failures.map(verdict.explanation).joined(separator: "; ")
    }

    // An archive holds the explanations and can be decoded where this class is not known.
    override var classForCoder: AnyClass { NSError.self }
    override func encode(with coder: NSCoder) {
        NSError(domain: domain, code: code, userInfo: userInfo).encode(with: coder)
    }
}
