// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf is for a server. Only its alternative names count, not its common name (RFC
/// 9525, section 6.3).
struct ServerNameRule: ChainRule {
    let server: ServerName

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let names = chain.leaf.extensions.subjectAlternativeNames else {
            throw TrustFailure(.serverName, at: 0, "it has no alternative names, so it is not for \(server)")
        }
        guard !names.contains(where: server.matches) else { return }
        throw TrustFailure(.serverName, at: 0, Self.mismatchDescription(names, server))
    }

    private static func mismatchDescription(_ names: [GeneralName], _ server: ServerName) -> String {
        let some = names.prefix(5).map(\.description).joined(separator: ", ")
        return "it is for \(some)\(names.count > 5 ? ", …" : ""), not for \(server)"
    }
}
