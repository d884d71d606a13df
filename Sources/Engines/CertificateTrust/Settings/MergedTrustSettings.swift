// SPDX-License-Identifier: Apache-2.0

/// The merged trust settings of several domains; the user's take precedence over the
/// administrator's.
struct MergedTrustSettings: Sendable {
    /// The entries of each certificate, in the order of the domains.
    private let byCertificate: [Certificate: [TrustSettings.Entry]]
    private let policies: [TrustPolicy]

    init(_ domains: [TrustSettings], for policies: [TrustPolicy]) {
        byCertificate = Dictionary(grouping: domains.flatMap(\.entries), by: \.certificate)
        // Trust settings do not depend on whether revocation is checked.
        self.policies = policies.filter { if case .revocation = $0 { false } else { true } }
    }

    /// The result for a policy: the first that is not `unspecified`.
    private func result(_ entries: [TrustSettings.Entry], _ policy: TrustPolicy) -> TrustSetting.Result? {
        entries.lazy.flatMap { $0.settings(for: policy) }.map(\.result).first { $0 != .unspecified }
    }

    /// The certificates that are anchors for every policy.
    var anchors: [Certificate] {
        byCertificate.filter { certificate, entries in
            policies.allSatisfy { policy in
                switch result(entries, policy) {
                case .trustRoot: certificate.isSelfIssued
                case .trustAsRoot: true
                case .deny, .unspecified, nil: false
                }
            }
        }.map(\.key)
    }

    /// The certificates that are denied for any policy.
    var denied: Set<Certificate> {
        Set(byCertificate.filter { _, entries in policies.contains { result(entries, $0) == .deny } }.map(\.key))
    }

    /// Whether the settings of the certificate allow this failure for every policy.
    func allows(_ failure: TrustFailure, about certificate: Certificate) -> Bool {
        guard failure.rule.isAllowable, let entries = byCertificate[certificate] else { return false }
        return policies.allSatisfy { policy in
            entries.flatMap { $0.settings(for: policy) }.contains { $0.allowedError == failure.rule }
        }
    }
}
