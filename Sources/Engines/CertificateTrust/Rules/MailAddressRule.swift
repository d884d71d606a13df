// SPDX-License-Identifier: Apache-2.0

/// The leaf is somebody's whose address of mail was asked for (RFC 8550, section 3).
struct MailAddressRule: ChainRule {
    let address: String

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let addresses = chain.leaf.mailAddresses
        guard !addresses.contains(where: { $0.lowercased() == address.lowercased() }) else { return }
        throw TrustFailure(.mailAddress, at: 0, "it is for \(addresses.joined(separator: ", ")), and \(address) was asked for")
    }
}
