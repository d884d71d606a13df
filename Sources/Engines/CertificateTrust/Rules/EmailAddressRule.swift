// SPDX-License-Identifier: Apache-2.0

/// The leaf is somebody's whose address of mail was asked for (RFC 8550, section 3).
struct EmailAddressRule: ChainRule {
    let address: String

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let addresses = chain.leaf.emailAddresses
        // Byte by byte: outside of ASCII there are letters that pass for others.
        let wanted = Array(address.utf8).lowercased
        guard !addresses.contains(where: { Array($0.utf8).lowercased == wanted && wanted.allSatisfy { $0 < 0x80 } })
        else { return }
        throw TrustFailure(
            .mailAddress, at: 0, "it is for \(addresses.joined(separator: ", ")), and \(address) was asked for")
    }
}
