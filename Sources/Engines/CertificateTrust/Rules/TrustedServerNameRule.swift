// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf is for one of the trusted servers (RFC 5216, section 5.3). Only its
/// alternative names count.
struct TrustedServerNameRule: ChainRule {
    let names: [TrustedServerName]

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let presented = chain.leaf.extensions.subjectAlternativeNames ?? []
        let names = names
        // The lengths of both lists are untrusted input.
        try budget.spend(.nameComparison, presented.count * max(names.count, 1))
        for case .dns(let name) in presented where names.contains(where: { $0.matches(name) }) { return }
        throw TrustFailure(
            .serverName, at: 0,
            "none of its alternative names is one of \(names.prefix(5).map(\.text).joined(separator: ", "))")
    }
}
