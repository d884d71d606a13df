// SPDX-License-Identifier: Apache-2.0

/// The leaf is for the server that was asked for. Only its alternative names count: a common name is none (RFC 9525, section 6.3).
struct ServerNameRule: ChainRule {
    let server: ServerName

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        guard let names = chain.leaf.extensions.subjectAlternativeNames else {
            throw TrustFailure(.serverName, at: 0, "it has no alternative names, and \(server) was asked for")
        }
        guard !names.contains(where: server.matches) else { return }
        throw TrustFailure(.serverName, at: 0, Self.mismatchDescription(names, server))
    }

    private static func mismatchDescription(_ names: [GeneralName], _ server: ServerName) -> String {
        let some = names.prefix(5).map(\.description).joined(separator: ", ")
        return "it is for \(some)\(names.count > 5 ? ", …" : ""), and \(server) was asked for"
    }
}
