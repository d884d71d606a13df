// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Which names an authority may give (RFC 5280, section 4.2.1.10).
public struct NameConstraints: Sendable {
    /// Where a kind is named here, every name of that kind has to lie in one of its subtrees.
    public let permitted: [GeneralName]
    /// No name may lie in one of these.
    public let excluded: [GeneralName]

    init(_ node: ASN1Node) throws {
        var (permitted, excluded): ([GeneralName]?, [GeneralName]?)
        for member in try node.members() {
            if member.isContextSpecific(0), permitted == nil, excluded == nil {
                permitted = try Self.subtrees(member)
            } else if member.isContextSpecific(1), excluded == nil {
                excluded = try Self.subtrees(member)
            } else {
                throw CertificateError("name constraints have a part that is neither permitted nor excluded")
            }
        }
        guard permitted != nil || excluded != nil else { throw CertificateError("name constraints are empty") }
        self.permitted = permitted ?? []
        self.excluded = excluded ?? []
    }

    private static func subtrees(_ node: ASN1Node) throws -> [GeneralName] {
        let subtrees = try node.members(node.identifier).map { subtree in
            // The distances minimum and maximum are 0 and absent (section 4.2.1.10), which DER leaves out.
            let members = try subtree.members()
            guard members.count == 1 else { throw CertificateError("a name constraint has a minimum or a maximum") }
            return try GeneralName(members[0])
        }
        guard !subtrees.isEmpty else { throw CertificateError("a list of name constraints is empty") }
        return subtrees
    }
}
