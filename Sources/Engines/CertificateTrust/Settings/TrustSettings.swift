// SPDX-License-Identifier: Apache-2.0

/// What the user, or the administrator, says of certificates.
public struct TrustSettings: Sendable {
    /// One certificate with its settings; without any it is trusted for everything.
    public struct Entry: Sendable {
        public let certificate: Certificate
        public var settings: [TrustSetting]
        /// When it was said, in seconds since 1970.
        public var modified: Double

        public init(_ certificate: Certificate, settings: [TrustSetting], modified: Double) {
            self.certificate = certificate
            self.settings = settings
            self.modified = modified
        }

        /// What holds for a policy: the first setting that concerns it.
        func setting(for policy: TrustPolicy) -> TrustSetting? {
            settings.isEmpty ? TrustSetting(.trustRoot) : settings.first { $0.concerns(policy) }
        }
    }

    /// By SHA-1 of the certificate, as property lists have it.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Says this of a certificate, and no longer what was said before.
    public mutating func set(_ settings: [TrustSetting], of certificate: Certificate, at moment: Double) {
        let entry = Entry(certificate, settings: settings, modified: moment)
        if let index = entries.firstIndex(where: { $0.certificate == certificate }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    /// Says nothing of a certificate any more.
    ///
    /// - Returns: whether anything was said.
    public mutating func remove(_ certificate: Certificate) -> Bool {
        let count = entries.count
        entries.removeAll { $0.certificate == certificate }
        return entries.count < count
    }

    func entry(_ certificate: Certificate) -> Entry? { entries.first { $0.certificate == certificate } }
}

/// The settings of several domains, the user's before the administrator's: of each certificate the first that says anything.
struct JoinedSettings: Sendable {
    private let byCertificate: [Certificate: TrustSettings.Entry]
    private let policies: [TrustPolicy]

    init(_ domains: [TrustSettings], for policies: [TrustPolicy]) {
        byCertificate = Dictionary(domains.flatMap(\.entries).map { ($0.certificate, $0) }) { first, _ in first }
        // Whoever is trusted is so whether revocation is looked at or not.
        self.policies = policies.filter { if case .revocation = $0 { false } else { true } }
    }

    /// The certificates that every policy takes for anchors.
    var anchors: [Certificate] {
        byCertificate.values.filter { entry in
            policies.allSatisfy { policy in
                switch entry.setting(for: policy)?.result {
                case .trustRoot: entry.certificate.isSelfIssued
                case .trustAsRoot: true
                case .deny, .unspecified, nil: false
                }
            }
        }.map(\.certificate)
    }

    /// The certificates that a policy forbids.
    var denied: Set<Certificate> {
        Set(
            byCertificate.values.filter { entry in policies.contains { entry.setting(for: $0)?.result == .deny } }.map(\.certificate))
    }

    /// Whether a failure about a certificate is one that its setting allows.
    func allows(_ failure: TrustFailure, about certificate: Certificate) -> Bool {
        guard let entry = byCertificate[certificate] else { return false }
        return policies.allSatisfy { entry.setting(for: $0)?.allowedError == failure.rule }
    }
}
