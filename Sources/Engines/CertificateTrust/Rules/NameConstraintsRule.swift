// SPDX-License-Identifier: Apache-2.0

/// Checks that every name is permitted by the name constraints of the CAs above it (RFC 5280,
/// sections 4.2.1.10 and 6.1.3 b and c).
struct NameConstraintsRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let mayConstrain = chain.certificates.count == 1 || chain.leaf.extensions.basicConstraints?.isCA == true
        guard chain.leaf.extensions.nameConstraints == nil || mayConstrain else {
            throw TrustFailure(.nameConstraints, at: 0, "it has name constraints, but is not a CA certificate")
        }
        for (above, authority) in chain.certificates.enumerated().dropFirst() {
            guard let constraints = authority.extensions.nameConstraints else { continue }
            for (index, certificate) in chain.certificates.enumerated().prefix(above) {
                // Self-issued certificates are exempt (section 6.1.3 b and c), except for the leaf.
                guard index == 0 || !certificate.isSelfIssued else { continue }
                try check(certificate, at: index, constraints, of: authority, &budget)
            }
        }
    }

    private func check(
        _ certificate: Certificate, at index: Int, _ constraints: NameConstraints, of authority: Certificate,
        _ budget: inout WorkBudget
    ) throws(TrustFailure) {
        let names = Self.names(of: certificate).map { (name: $0, kinds: $0.constrainedKinds) }
        // Filtering them by kind is charged, too.
        try budget.spend(
            .nameComparison, names.count + constraints.permitted.count + constraints.excluded.count)
        for kind in GeneralName.Kind.allCases {
            let concerned = names.filter { $0.kinds.contains(kind) }.map(\.name)
            let (permitted, excluded) = (
                constraints.permitted.filter { $0.kind == kind }, constraints.excluded.filter { $0.kind == kind }
            )
            guard !concerned.isEmpty, !permitted.isEmpty || !excluded.isEmpty else { continue }
            // Paid before a single one is made ready.
            try budget.spend(.nameComparison, concerned.count * (permitted.count + excluded.count))
            let violation: Violation?
            do throws(CertificateError) {
                violation = try Self.violation(of: concerned, as: kind, permitted: permitted, excluded: excluded)
            } catch {
                throw TrustFailure(.nameConstraints, at: index, "name constraints of \(authority.subject): \(error)")
            }
            guard let violation else { continue }
            throw TrustFailure(
                .nameConstraints, at: index,
                "\(violation.name) is \(violation.reason) by the name constraints of \(authority.subject)")
        }
    }

    /// A name that is not permitted, and why.
    private struct Violation {
        let name: GeneralName
        let reason: StaticString
    }

    /// The first name that the subtrees do not permit; nil if all are permitted.
    private static func violation(
        of names: [GeneralName], as kind: GeneralName.Kind, permitted: [GeneralName], excluded: [GeneralName]
    ) throws(CertificateError) -> Violation? {
        var (allowed, forbidden): ([NameSubtree], [NameSubtree]) = ([], [])
        for subtree in permitted { allowed.append(try NameSubtree(subtree)) }
        for subtree in excluded { forbidden.append(try NameSubtree(subtree)) }
        for each in names {
            let name = try ConstrainedName(each, as: kind)
            guard !forbidden.contains(where: { $0.overlaps(name) }) else {
                return Violation(name: each, reason: "excluded")
            }
            guard allowed.isEmpty || allowed.contains(where: { $0.contains(name) }) else {
                return Violation(name: each, reason: "not permitted")
            }
        }
        return nil
    }

    /// The alternative names, the subject, and the email addresses in the subject.
    private static func names(of certificate: Certificate) -> [GeneralName] {
        var names = certificate.extensions.subjectAlternativeNames ?? []
        if !certificate.subject.isEmpty { names.append(.directory(certificate.subject)) }
        // Even if there are alternative names, because both are used.
        names += certificate.subject.values(of: .emailAddressName).map {
            .email(ArraySlice(Array(($0.text ?? "").utf8)))
        }
        return names
    }
}
