// SPDX-License-Identifier: Apache-2.0

/// The settings of several domains, the user's before the administrator's.
struct MergedTrustSettings: Sendable {
    /// In the order of the domains.
    private let byCertificate: [Certificate: [TrustSettings.Entry]]
    private let policies: [TrustPolicy]

    init(_ domains: [TrustSettings], for policies: [TrustPolicy]) {
        byCertificate = Dictionary(grouping: domains.flatMap(\.entries), by: \.certificate)
        // Whoever is trusted is so whether revocation is looked at or not.
        self.policies = policies.filter { if case .revocation = $0 { false } else { true } }
    }

    /// What is said for a policy: the first that says anything about trust.
    private func result(_ entries: [TrustSettings.Entry], _ policy: TrustPolicy) -> TrustSetting.Result? {
        entries.lazy.flatMap { $0.settings(for: policy) }.map(\.result).first { $0 != .unspecified }
    }

    /// The certificates that every policy takes for anchors.
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

    /// The certificates that a policy forbids.
    var denied: Set<Certificate> {
        Set(byCertificate.filter { _, entries in policies.contains { result(entries, $0) == .deny } }.map(\.key))
    }

    /// Whether a failure about a certificate is one that its settings allow.
    func allows(_ failure: TrustFailure, about certificate: Certificate) -> Bool {
        guard failure.rule.isAllowable, let entries = byCertificate[certificate] else { return false }
        return policies.allSatisfy { policy in
            entries.flatMap { $0.settings(for: policy) }.contains { $0.allowedError == failure.rule }
        }
    }
}
