// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// The subdomains that a setting for a domain includes.
public enum Subdomains: String, Hashable, Sendable, CaseIterable {
    case none
    /// Names with one more label, as Apple's `NSIncludesSubdomains`.
    case oneLevel
    case anyLevel

    /// Whether a name with this number of labels before the domain is included; 0 is the domain.
    func includes(labels: Int) -> Bool {
        switch self {
        case .none: labels == 0
        case .oneLevel: labels <= 1
        case .anyLevel: true
        }
    }
}

/// The hosts that a setting is for: a domain, with subdomains or without, except excluded ones.
public struct DomainRule: Hashable, Sendable {
    public let domain: DomainName
    public let subdomains: Subdomains
    /// Each excludes itself and every name below it.
    public let excluded: Set<DomainName>

    /// - Throws: if an excluded domain is not included without the exclusion, or if no host is left.
    public init(_ domain: DomainName, subdomains: Subdomains = .none, excluding excluded: Set<DomainName> = [])
        throws(TransportPolicyError)
    {
        for exclusion in excluded {
            guard let labels = exclusion.host.labels(below: domain.host), labels > 0 else {
                throw TransportPolicyError("\(exclusion) cannot be excluded, because it is not below \(domain)")
            }
            guard subdomains.includes(labels: labels) else {
                throw TransportPolicyError(
                    "\(exclusion) cannot be excluded, because the setting of \(domain) does not include it")
            }
        }
        (self.domain, self.subdomains, self.excluded) = (domain, subdomains, excluded)
    }

    /// The rule of a domain without exclusions.
    init(of domain: DomainName, _ subdomains: Subdomains) {
        (self.domain, self.subdomains, excluded) = (domain, subdomains, [])
    }

    /// Whether the setting is for this host. The host's case and a trailing dot do not matter.
    public func includes(_ host: HostName) -> Bool {
        guard let labels = host.labels(below: domain.host), subdomains.includes(labels: labels) else { return false }
        return !excluded.contains { host.labels(below: $0.host) != nil }
    }
}

extension Sequence {
    /// Returns the element with a rule that includes the host; of several, the one with the longest domain.
    func mostSpecific(for host: HostName, _ rule: (Element) -> DomainRule?) -> Element? {
        var best: (element: Element, count: Int)?
        for element in self {
            guard let rule = rule(element), rule.includes(host) else { continue }
            let count = rule.domain.host.labels.count
            if count > best?.count ?? 0 { best = (element, count) }
        }
        return best?.element
    }
}
