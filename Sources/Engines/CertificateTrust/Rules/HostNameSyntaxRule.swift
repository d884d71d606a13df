// SPDX-License-Identifier: Apache-2.0

/// The host names of a server's leaf have no underscore, whichever of them was asked for: RFC 5280, section 4.2.1.6, asks for the preferred syntax of
/// names (RFC 1034, section 3.5), and the Baseline Requirements, section 7.1.2.7.12, name the underscore.
struct HostNameSyntaxRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for name in chain.leaf.extensions.subjectAlternativeNames ?? [] {
            guard case .dns(let bytes) = name, bytes.contains(UInt8(ascii: "_")) else { continue }
            throw TrustFailure(
                .hostNameForm, at: 0,
                "the name \(name) has an underscore, which no host's name in a certificate may have")
        }
    }
}
