// SPDX-License-Identifier: Apache-2.0

public import TransportPolicy

/// The pins of one domain as the keychain stores them (Documentation/Formats/pins.md).
public struct HostPins: Hashable, Sendable {
    /// Where the pins come from.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// A person or a program gave them.
        case given
        /// They are the key that the server had when the domain was added. Nothing proves that it is
        /// the right one.
        case firstUse
    }

    /// The domain, with subdomains or without, and its pins.
    public let pinSet: PinSet
    public let origin: Origin
    /// Seconds since 1970.
    public let created: UInt64
    /// When a server of the domain last satisfied the pins, in seconds since 1970; nil if none has.
    public internal(set) var lastSeen: UInt64?
    /// How often a server of the domain did not satisfy the pins.
    public internal(set) var failureCount: UInt32 = 0

    /// Creates a record. Without a backup pin, the program must be given new pins before the key is
    /// replaced.
    ///
    /// - Parameters:
    ///   - domain: the domain, also the name of the record.
    ///   - subdomains: the names below the domain that are included.
    ///   - requirement: the pins, and the certificates to compare with them.
    ///   - origin: where the pins come from.
    ///   - created: seconds since 1970.
    /// - Throws: if the parts do not make a set of pins.
    public init(
        _ domain: DomainName, subdomains: Subdomains = .none, _ requirement: PinRequirement, origin: Origin,
        created: UInt64
    ) throws(TransportPolicyError) {
        pinSet = try PinSet(DomainRule(domain, subdomains: subdomains), [requirement], requiresBackup: false)
        (self.origin, self.created) = (origin, created)
    }

    public var domain: DomainName { pinSet.rule.domain }

    /// The record after a comparison with a server.
    ///
    /// - Parameters:
    ///   - isMatch: whether the server satisfied the pins.
    ///   - time: seconds since 1970.
    public func recording(isMatch: Bool, at time: UInt64) -> HostPins {
        var record = self
        if isMatch {
            record.lastSeen = max(time, 1)
        } else if record.failureCount < .max {
            record.failureCount += 1
        }
        return record
    }
}
