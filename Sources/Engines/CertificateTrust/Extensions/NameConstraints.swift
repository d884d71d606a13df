// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The names that a CA may issue certificates for (RFC 5280, section 4.2.1.10).
public struct NameConstraints: Sendable {
    /// If there is a subtree of a kind, each name of that kind must be in one of its subtrees.
    public let permitted: [GeneralName]
    /// No name may be in one of these subtrees.
    public let excluded: [GeneralName]

    init(_ node: ASN1Node) throws {
        var (permitted, excluded): ([GeneralName]?, [GeneralName]?)
        for member in try node.members() {
            if member.isContextSpecific(0), permitted == nil, excluded == nil {
                permitted = try Self.subtrees(member)
            } else if member.isContextSpecific(1), excluded == nil {
                excluded = try Self.subtrees(member)
            } else {
                throw CertificateError("unexpected field in name constraints")
            }
        }
        guard permitted != nil || excluded != nil else { throw CertificateError("name constraints are empty") }
        self.permitted = permitted ?? []
        self.excluded = excluded ?? []
    }

    private static func subtrees(_ node: ASN1Node) throws -> [GeneralName] {
        let subtrees = try node.members(node.identifier).map { subtree in
            // The minimum must be 0 (DER omits it), and the maximum absent (section 4.2.1.10).
            let members = try subtree.members()
            guard members.count == 1 else { throw CertificateError("a name constraint has a minimum or a maximum") }
            return try GeneralName(members[0])
        }
        guard !subtrees.isEmpty else { throw CertificateError("a list of name constraints is empty") }
        return subtrees
    }
}
