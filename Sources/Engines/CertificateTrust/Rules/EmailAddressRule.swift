// SPDX-License-Identifier: Apache-2.0

/// Checks that the leaf is for an email address (RFC 8550, section 3).
struct EmailAddressRule: ChainRule {
    let address: String

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let addresses = chain.leaf.emailAddresses
        // Compared as bytes, because outside of ASCII different letters can compare as equal.
        let wanted = Array(address.utf8).lowercased
        guard !addresses.contains(where: { Array($0.utf8).lowercased == wanted && wanted.allSatisfy { $0 < 0x80 } })
        else { return }
        throw TrustFailure(
            .mailAddress, at: 0, "it is for \(addresses.joined(separator: ", ")), not for \(address)")
    }
}
