// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Checks the marker extension, the certificate policy, the extended key usage and the
/// organizational unit that one of Apple's policies requires of the leaf.
struct AppleLeafRule: ChainRule {
    let profile: AppleProfile

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let (leaf, profile) = (chain.leaf, profile)
        guard let marker = leaf.extensions[profile.leafMarker] else {
            throw TrustFailure(
                .requiredExtension, at: 0, "it lacks the extension \(profile.leafMarker) that this policy requires")
        }
        if let expected = profile.leafMarkerText, marker.text != expected {
            throw TrustFailure(
                .requiredExtension, at: 0,
                "its extension \(profile.leafMarker) must be \(expected), found \(marker.text ?? "no text")")
        }
        if let policy = profile.certificatePolicy, leaf.extensions.certificatePolicies?.contains(policy) != true {
            throw TrustFailure(.certificatePolicy, at: 0, "it lacks the certificate policy \(policy)")
        }
        if let usage = profile.usage, leaf.extensions.extendedKeyUsages?.contains(usage) != true {
            throw TrustFailure(.extendedKeyUsage, at: 0, "its extended key usages lack \(usage)")
        }
        guard let unit = profile.organizationalUnit else { return }
        let units = leaf.subject.values(of: .organizationalUnitName).map(\.text)
        guard units == [unit] else {
            throw TrustFailure(.requiredName, at: 0, "the organizational unit of its subject must be \(unit)")
        }
    }
}

extension CertificateExtension {
    /// The string that the extension contains; nil if its value is not a string.
    fileprivate var text: String? {
        guard let node = try? DER.parse(value), let content = node.primitiveContent else { return nil }
        switch node.identifier {
        case .utf8String: return String(validating: content, as: UTF8.self)
        case .printableString, .ia5String, .visibleString:
            return content.allSatisfy { $0 < 0x80 } ? String(decoding: content, as: UTF8.self) : nil
        default: return nil
        }
    }
}
