// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Evaluates as the system does, and asks whether a certificate is revoked.
public struct RevocationTrustEvaluator: ServerTrustEvaluating {
    public struct Options: OptionSet, Sendable {
        /// Any method that the certificates offer.
        public static let any = Options(rawValue: kSecRevocationUseAnyAvailableMethod)
        public static let crl = Options(rawValue: kSecRevocationCRLMethod)
        public static let ocsp = Options(rawValue: kSecRevocationOCSPMethod)
        public static let preferCRL = Options(rawValue: kSecRevocationPreferCRL)
        public static let networkAccessDisabled = Options(rawValue: kSecRevocationNetworkAccessDisabled)
        /// A server without evidence is refused.
        public static let requirePositiveResponse = Options(rawValue: kSecRevocationRequirePositiveResponse)

        public let rawValue: CFOptionFlags

        public init(rawValue: CFOptionFlags) {
            self.rawValue = rawValue
        }
    }

    private let validateHost: Bool
    private let options: Options

    public init(validateHost: Bool = true, options: Options = .any) {
        self.validateHost = validateHost
        self.options = options
    }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try trust.af.apply(policy: SecPolicyCreateSSL(true, validateHost ? host as CFString : nil))
        guard let policy = SecPolicyCreateRevocation(options.rawValue) else {
            throw ServerTrustError.revocationPolicyCreationFailed
        }
        try trust.af.add(policy: policy)
        try trust.af.evaluate()
    }
}
