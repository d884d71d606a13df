// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// One way to evaluate a server.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns if the server is accepted.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

/// Why an evaluator refused a server.
public enum ServerTrustError: Error {
    case noRequiredEvaluator(host: String)
    case noCertificatesFound
    case noPublicKeysFound
    case policyApplicationFailed(status: OSStatus)
    case settingAnchorCertificatesFailed(status: OSStatus)
    case revocationPolicyCreationFailed
    case trustEvaluationFailed(error: any Error)
    case certificatePinningFailed(host: String)
    case publicKeyPinningFailed(host: String)
}

extension ServerTrustError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noRequiredEvaluator(let host): "\(host) has no evaluator"
        case .noCertificatesFound: "there are no certificates to compare with"
        case .noPublicKeysFound: "there are no public keys to compare with"
        case .policyApplicationFailed(let status): "the policy was not set: \(status)"
        case .settingAnchorCertificatesFailed(let status): "the anchors were not set: \(status)"
        case .revocationPolicyCreationFailed: "there is no such policy for revocation"
        case .trustEvaluationFailed(let error): error.localizedDescription
        case .certificatePinningFailed(let host): "\(host) has none of the pinned certificates"
        case .publicKeyPinningFailed(let host): "\(host) has none of the pinned keys"
        }
    }
}
