// SPDX-License-Identifier: Apache-2.0

/// The certificates of a chain that a pin is compared with.
public enum PinPlacement: String, Hashable, Sendable, CaseIterable {
    case leaf
    /// Any certificate above the leaf, including the anchor.
    case certificateAuthority
    case anywhere

    /// How messages name the place.
    var text: String {
        switch self {
        case .leaf: "the leaf"
        case .certificateAuthority: "a CA of the chain"
        case .anywhere: "a certificate of the chain"
        }
    }
}

/// Pins for one place of a chain; the chain must have one of them there.
public struct PinRequirement: Hashable, Sendable {
    public let placement: PinPlacement
    /// Not empty.
    public let pins: Set<Pin>

    /// The maximum number of pins of a requirement.
    public static let maxPins = 64

    public init(_ placement: PinPlacement, _ pins: some Sequence<Pin>) throws(TransportPolicyError) {
        let pins = Set(pins)
        guard !pins.isEmpty else { throw TransportPolicyError("expected at least one pin for \(placement.text)") }
        guard pins.count <= Self.maxPins else {
            throw TransportPolicyError("more than \(Self.maxPins) pins for \(placement.text)")
        }
        (self.placement, self.pins) = (placement, pins)
    }

    /// The pinned keys that a chain has in the place; empty if the chain does not satisfy the
    /// requirement.
    func matches(in chain: ValidatedChain) -> Set<Pin> {
        let certificates =
            switch placement {
            case .leaf: chain.certificates.prefix(1)
            case .certificateAuthority: chain.certificates.dropFirst()
            case .anywhere: chain.certificates[...]
            }
        return pins.intersection(certificates.map { Pin($0) })
    }
}
