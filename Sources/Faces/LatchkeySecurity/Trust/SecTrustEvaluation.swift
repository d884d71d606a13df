// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Dispatch
public import Foundation
internal import KeychainModel

// Judging.

/// Whether the certificate is trusted. Waits up to ten seconds for the network, where a policy of ``SecPolicyCreateRevocation(_:)`` asks it.
///
/// - Parameter error: receives, where it is not, an error in NSOSStatusErrorDomain: Apple's code (errSecCertificateExpired,
///   errSecHostNameMismatch, errSecNotTrusted, …) and a sentence with what was expected and what was found.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let verdict = trust.evaluate()
    error?.pointee = verdict.error
    return verdict.isTrusted
}

/// Judges on a queue.
///
/// - Parameters:
///   - queue: where the certificates are judged and `result` is called.
///   - result: receives the trust object, whether it is trusted, and the error of ``SecTrustEvaluateWithError(_:_:)``.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping @Sendable (SecTrust, Bool, CFError?) -> Void
) -> OSStatus {
    queue.async {
        let verdict = trust.evaluate()
        result(trust, verdict.isTrusted, verdict.error)
    }
    return errSecSuccess
}

/// Judges, and tells the result alone.
@available(*, deprecated, renamed: "SecTrustEvaluateWithError")
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.evaluate().resultType
    return errSecSuccess
}

/// Judges on a queue, and tells the result alone.
@available(*, deprecated, renamed: "SecTrustEvaluateAsyncWithError")
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping @Sendable (SecTrust, SecTrustResultType) -> Void
) -> OSStatus {
    (queue ?? .global()).async { result(trust, trust.evaluate().resultType) }
    return errSecSuccess
}

/// The result of the last evaluation; `.invalid` where there was none since the last change.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.state.verdict?.resultType ?? .invalid
    return errSecSuccess
}

// MARK: What came of it

/// The chain, the certificate that was judged first and the anchor last; where there is none, the certificates of the attempt that came
/// furthest. Evaluates where nothing has.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    NSArray(array: trust.verdict.chain.map(SecCertificate.init))
}

/// How many certificates the chain has. Evaluates where nothing has.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    trust.verdict.chain.count
}

/// A certificate of the chain, 0 being the one that was judged; nil behind the last.
@available(*, deprecated, renamed: "SecTrustCopyCertificateChain")
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.verdict.chain
    return chain.indices.contains(index) ? SecCertificate(chain[index]) : nil
}

/// The public key of the certificate that was judged; nil where its algorithm is not served. Trust in it is not said.
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

/// What came of the last evaluation: `kSecTrustEvaluationDate` (Date), `kSecTrustResultValue` (a number of `SecTrustResultType`) and, where every
/// certificate is known not to be revoked, `kSecTrustRevocationChecked` (true) and `kSecTrustRevocationValidUntilDate` (Date); nil where there was
/// none.
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

/// What is wrong with each certificate of the chain: an array of dictionaries with `kSecPropertyTypeTitle` and, where something is,
/// `kSecPropertyTypeError`.
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

    /// Nil where the chain is trusted.
    fileprivate var error: CFError? { failure.map { TrustError(self, $0) } }
}

/// Why a chain is refused, with its sentences made when they are read: a program that asks for the code alone does not pay for them.
///
/// Its Sendable is unchecked because NSError's is: what this class adds is an immutable value.
private final class TrustError: NSError, @unchecked Sendable {
    private let verdict: TrustVerdict

    init(_ verdict: TrustVerdict, _ failure: TrustFailure) {
        self.verdict = verdict
        super.init(domain: NSOSStatusErrorDomain, code: Int(failure.rule.status.rawValue))
    }

    required init?(coder: NSCoder) { nil }

    override var userInfo: [String: Any] {
        var sentences: [String: Any] = [:]
        sentences[NSLocalizedDescriptionKey] = verdict.failure.map(verdict.explanation)
        sentences[NSLocalizedFailureReasonErrorKey] = verdict.failures.map(verdict.explanation).joined(separator: "; ")
        return sentences
    }

    // An archive holds the sentences, and is read where this class is not known.
    override var classForCoder: AnyClass { NSError.self }
    override func encode(with coder: NSCoder) {
        NSError(domain: domain, code: code, userInfo: userInfo).encode(with: coder)
    }
}
