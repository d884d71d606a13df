// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// The pins of several domains.
public struct PinConfiguration: Hashable, Sendable {
    public let sets: [PinSet]

    /// The maximum number of domains.
    public static let maxDomains = 1000

    /// No pins.
    public init() { sets = [] }

    /// - Throws: if two sets have the same domain, or there are too many.
    public init(_ sets: [PinSet]) throws(TransportPolicyError) {
        guard sets.count <= Self.maxDomains else {
            throw TransportPolicyError("more than \(Self.maxDomains) domains with pins")
        }
        var domains: Set<DomainName> = []
        for set in sets where !domains.insert(set.rule.domain).inserted {
            throw TransportPolicyError("\(set.rule.domain) has two sets of pins", hint: "join them to one set")
        }
        self.sets = sets
    }

    /// Returns the pins of a host: those of the longest domain with a rule that includes it. A host that a rule
    /// excludes may still be included by the rule of a shorter domain.
    public func set(for host: HostName) -> PinSet? { sets.mostSpecific(for: host) { $0.rule } }
}
