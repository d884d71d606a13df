// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Accepts a trusted server with one of the app's public keys in its chain.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [SecKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    public init(keys: [SecKey], performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !keys.isEmpty else { throw ServerTrustError.noPublicKeysFound }
        if performDefaultValidation { try trust.af.performDefaultValidation() }
        if validateHost { try trust.af.performValidation(forHost: host) }
        guard trust.af.publicKeys.contains(where: keys.contains) else {
            throw ServerTrustError.publicKeyPinningFailed(host: host)
        }
    }
}
