// SPDX-License-Identifier: Apache-2.0

/// Checks that no host name of a server's leaf has an underscore, for any required name. RFC 5280, section 4.2.1.6,
/// requires the preferred name syntax (RFC 1034, section 3.5); the Baseline Requirements, section 7.1.2.7.12, forbid
/// the underscore explicitly.
struct HostNameSyntaxRule: ChainRule {
    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for name in chain.leaf.extensions.subjectAlternativeNames ?? [] {
            guard case .dns(let bytes) = name, bytes.contains(UInt8(ascii: "_")) else { continue }
            throw TrustFailure(
                .hostNameForm, at: 0,
                "\(name) has an underscore; a host name must not have one")
        }
    }
}
