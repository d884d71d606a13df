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

        /// What is said for a policy.
        func settings(for policy: TrustPolicy) -> [TrustSetting] {
            settings.isEmpty ? [TrustSetting(.trustRoot)] : settings.filter { $0.applies(to: policy) }
        }
    }

    /// By SHA-1 of the certificate, as property lists have it.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Says this of a certificate, and no longer what was said before.
    public mutating func set(_ settings: [TrustSetting], of certificate: Certificate, at date: Double) {
        let entry = Entry(certificate, settings: settings, modified: date)
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
