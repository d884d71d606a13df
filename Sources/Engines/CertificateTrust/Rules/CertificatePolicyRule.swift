// SPDX-License-Identifier: Apache-2.0

/// Checks that a policy is valid for the whole chain if a CA requires one (RFC 5280, section 6.1;
/// the initial policy set is any-policy).
///
/// The RFC's policy tree can grow exponentially with hostile certificates. Only the set of its leaves is kept, and this
/// is sufficient (RFC 9618).
struct CertificatePolicyRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        // The anchor is not processed.
        let processed = chain.certificates.dropLast()
        var state = State(remaining: processed.count)
        for (index, certificate) in processed.enumerated().reversed() {
            try budget.spend(.nameComparison, certificate.extensions.policyWork)
            state.process(certificate, isLeaf: index == 0)
            guard state.isSatisfied else {
                throw TrustFailure(
                    .certificatePolicy, at: index,
                    "a CA above requires a policy, and no policy is valid for the whole chain")
            }
        }
    }

    private struct State {
        /// The policies that the next certificate may have; `anyPolicy` allows all.
        private var expected: Set<ObjectIdentifier> = [.anyPolicy]
        private var isValid = true
        /// The number of certificates before each constraint applies.
        private var explicitPolicy: Int
        private var inhibitMapping: Int
        private var inhibitAny: Int

        init(remaining: Int) {
            (explicitPolicy, inhibitMapping, inhibitAny) = (remaining + 1, remaining + 1, remaining + 1)
        }

        var isSatisfied: Bool { isValid || explicitPolicy > 0 }

        mutating func process(_ certificate: Certificate, isLeaf: Bool) {
            let valid = policies(of: certificate, isLeaf: isLeaf)
            isValid = !valid.isEmpty
            if isLeaf {
                explicitPolicy = max(0, explicitPolicy - 1)
                // Section 6.1.5 b.
                if certificate.extensions.policyConstraints?.requireExplicitPolicy == 0 { explicitPolicy = 0 }
            } else {
                // Only CA certificates map policies.
                expected = mapped(valid, by: certificate.extensions.policyMappings ?? [])
                isValid = !expected.isEmpty
                count(certificate)
            }
        }

        /// Sections 6.1.3 d and e.
        private func policies(of certificate: Certificate, isLeaf: Bool) -> Set<ObjectIdentifier> {
            guard isValid, let named = certificate.extensions.certificatePolicies else { return [] }
            var valid = Set(
                named.filter { $0 != .anyPolicy && (expected.contains($0) || expected.contains(.anyPolicy)) })
            let servesAny = inhibitAny > 0 || !isLeaf && certificate.isSelfIssued
            if named.contains(.anyPolicy), servesAny { valid.formUnion(expected) }
            return valid
        }

        /// Section 6.1.4 b.
        private func mapped(_ valid: Set<ObjectIdentifier>, by mappings: [PolicyMapping]) -> Set<ObjectIdentifier> {
            let changed = Set(mappings.map(\.issuerPolicy))
            var next = valid.subtracting(changed)
            guard inhibitMapping > 0 else { return next }
            for mapping in mappings where valid.contains(mapping.issuerPolicy) || valid.contains(.anyPolicy) {
                next.insert(mapping.subjectPolicy)
            }
            return next
        }

        /// Section 6.1.4 h to j.
        private mutating func count(_ certificate: Certificate) {
            if !certificate.isSelfIssued {
                (explicitPolicy, inhibitMapping, inhibitAny) =
                    (max(0, explicitPolicy - 1), max(0, inhibitMapping - 1), max(0, inhibitAny - 1))
            }
            let constraints = certificate.extensions.policyConstraints
            if let limit = constraints?.requireExplicitPolicy { explicitPolicy = min(explicitPolicy, limit) }
            if let limit = constraints?.inhibitPolicyMapping { inhibitMapping = min(inhibitMapping, limit) }
            if let limit = certificate.extensions.inhibitAnyPolicy { inhibitAny = min(inhibitAny, limit) }
        }
    }
}

extension CertificateExtensions {
    fileprivate var policyWork: Int { (certificatePolicies?.count ?? 0) + (policyMappings?.count ?? 0) }
}
