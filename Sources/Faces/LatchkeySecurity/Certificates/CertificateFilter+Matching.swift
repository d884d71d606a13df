// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import LatchkeyClient
internal import LatchkeyService

extension CertificateFilter {
    /// Whether the certificate satisfies every condition. False for data that is not a certificate.
    func matches(_ certificate: Certificate) -> Bool {
        let validationTime = (validOn ?? Date()).timeIntervalSince1970
        if validOn != nil, !certificate.validity.contains(validationTime) { return false }
        if let policy, policy.failure(ofLeaf: certificate, at: validationTime) != nil { return false }
        if let issuers, !isIssued(certificate, by: issuers) { return false }
        if isTrustedOnly {
            var evaluation = TrustEvaluation(
                [certificate] + KeychainCertificates.all(), policies: policy.map { [$0] } ?? [.basicX509],
                at: validationTime)
            evaluation.take(TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory))
            return evaluation.verdict().isTrusted
        }
        return true
    }

    private func isIssued(_ certificate: Certificate, by names: [DistinguishedName]) -> Bool {
        var current = certificate
        // No chain has more than 12 certificates above the leaf.
        for _ in 0..<12 {
            if names.contains(where: { $0.matches(current.issuer) }) { return true }
            guard !current.isSelfIssued, let above = KeychainCertificates.withSubject(current.issuer).first else {
                return false
            }
            current = above
        }
        return false
    }
}
