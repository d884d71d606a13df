// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The members that this module adds to a type, as `value.af`.
public struct Extended<Base> {
    let base: Base
}

extension SecTrust {
    public var af: Extended<SecTrust> { Extended(base: self) }
}

extension SecCertificate {
    public var af: Extended<SecCertificate> { Extended(base: self) }
}

extension Extended where Base == SecTrust {
    /// The chain, leaf first.
    public var certificates: [SecCertificate] { SecTrustCopyCertificateChain(base) as? [SecCertificate] ?? [] }

    public var publicKeys: [SecKey] { certificates.compactMap(\.af.publicKey) }

    /// Evaluates with this policy alone.
    public func evaluate(afterApplying policy: SecPolicy) throws {
        try apply(policy: policy)
        try evaluate()
    }

    /// Replaces the policies of the trust.
    public func apply(policy: SecPolicy) throws {
        let status = SecTrustSetPolicies(base, policy)
        guard status == errSecSuccess else { throw ServerTrustError.policyApplicationFailed(status: status) }
    }

    /// Adds a policy to those of the trust.
    public func add(policy: SecPolicy) throws {
        var policies: CFArray?
        var status = SecTrustCopyPolicies(base, &policies)
        if status == errSecSuccess {
            status = SecTrustSetPolicies(base, ((policies as? [SecPolicy] ?? []) + [policy]) as CFArray)
        }
        guard status == errSecSuccess else { throw ServerTrustError.policyApplicationFailed(status: status) }
    }

    public func evaluate() throws {
        var error: CFError?
        guard SecTrustEvaluateWithError(base, &error) else {
            throw ServerTrustError.trustEvaluationFailed(error: error! as any Error)
        }
    }

    /// Trusts these certificates, and no others.
    public func setAnchorCertificates(_ certificates: [SecCertificate]) throws {
        var status = SecTrustSetAnchorCertificates(base, certificates as CFArray)
        if status == errSecSuccess { status = SecTrustSetAnchorCertificatesOnly(base, true) }
        guard status == errSecSuccess else { throw ServerTrustError.settingAnchorCertificatesFailed(status: status) }
    }

    /// Evaluates the chain without a name.
    public func performDefaultValidation() throws {
        try evaluate(afterApplying: SecPolicyCreateSSL(true, nil))
    }

    /// Evaluates with the name.
    public func performValidation(forHost host: String) throws {
        try evaluate(afterApplying: SecPolicyCreateSSL(true, host as CFString))
    }
}

extension Extended where Base == SecCertificate {
    public var publicKey: SecKey? { SecCertificateCopyKey(base) }

    public var data: Data { SecCertificateCopyData(base) as Data }
}
