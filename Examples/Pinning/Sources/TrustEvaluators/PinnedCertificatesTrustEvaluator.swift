// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Accepts a trusted server with one of the app's certificates in its chain.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [SecCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - certificates: those of the app; a CA's is possible as well.
    ///   - acceptSelfSignedCertificates: trusts these certificates instead of the system's CAs.
    ///   - performDefaultValidation: whether the chain is validated.
    ///   - validateHost: whether the name is validated.
    public init(
        certificates: [SecCertificate], acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !certificates.isEmpty else { throw ServerTrustError.noCertificatesFound }
        if acceptSelfSignedCertificates { try trust.af.setAnchorCertificates(certificates) }
        if performDefaultValidation { try trust.af.performDefaultValidation() }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let served = Set(trust.af.certificates.map(\.af.data))
        guard !served.isDisjoint(with: certificates.map(\.af.data)) else {
            throw ServerTrustError.certificatePinningFailed(host: host)
        }
    }
}
