// SPDX-License-Identifier: Apache-2.0

/// Checks the length, the intermediate and the root that one of Apple's policies requires.
struct AppleChainRule: ChainRule {
    let profile: AppleProfile

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let (certificates, profile) = (chain.certificates, profile)
        let last = certificates.count - 1
        guard profile.anchors.contains(certificates[last].sha256) else {
            throw TrustFailure(.requiredAnchor, at: last, "not one of the roots that this policy requires")
        }
        if let length = profile.length, certificates.count != length {
            throw TrustFailure(
                .pathLength, at: 0,
                "the chain has \(certificates.count) certificates; this policy requires \(length)")
        }
        let hasMarker = certificates.dropFirst().dropLast().contains { intermediate in
            profile.intermediateMarkers.contains { intermediate.extensions[$0] != nil }
        }
        guard hasMarker else {
            throw TrustFailure(
                .requiredExtension, at: min(1, last),
                "no intermediate has the extension \(profile.intermediateMarkers.map(\.description).joined(separator: " or "))"
            )
        }
    }
}
