// SPDX-License-Identifier: Apache-2.0

/// The trust settings of one domain: the user's or the administrator's.
public struct TrustSettings: Sendable {
    /// A certificate with its settings; an empty list means trusted for everything.
    public struct Entry: Sendable {
        public let certificate: Certificate
        public var settings: [TrustSetting]
        /// When the entry was last changed, in seconds since 1970.
        public var modified: Double

        public init(_ certificate: Certificate, settings: [TrustSetting], modified: Double) {
            self.certificate = certificate
            self.settings = settings
            self.modified = modified
        }

        /// The settings that apply to a policy.
        func settings(for policy: TrustPolicy) -> [TrustSetting] {
            settings.isEmpty ? [TrustSetting(.trustRoot)] : settings.filter { $0.applies(to: policy) }
        }
    }

    /// The entries, one per certificate.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Sets the settings of a certificate; they replace its previous ones.
    public mutating func set(_ settings: [TrustSetting], of certificate: Certificate, at date: Double) {
        let entry = Entry(certificate, settings: settings, modified: date)
        if let index = entries.firstIndex(where: { $0.certificate == certificate }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    /// Removes the settings of a certificate.
    ///
    /// - Returns: whether there were any.
    public mutating func remove(_ certificate: Certificate) -> Bool {
        let count = entries.count
        entries.removeAll { $0.certificate == certificate }
        return entries.count < count
    }

    func entry(_ certificate: Certificate) -> Entry? { entries.first { $0.certificate == certificate } }
}
