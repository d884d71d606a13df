// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Requirements for the policies of the certificates below this one (RFC 5280, section 4.2.1.11).
public struct PolicyConstraints: Hashable, Sendable {
    /// The number of certificates before an explicit policy is required.
    public let requireExplicitPolicy: Int?
    /// The number of certificates before policy mapping is inhibited.
    public let inhibitPolicyMapping: Int?

    init(_ node: ASN1Node) throws {
        var (explicit, mapping): (Int?, Int?)
        for member in try node.members() {
            if member.isContextSpecific(0), explicit == nil, mapping == nil {
                explicit = try member.number(member.identifier)
            } else if member.isContextSpecific(1), mapping == nil {
                mapping = try member.number(member.identifier)
            } else {
                throw CertificateError("unexpected field in policy constraints")
            }
        }
        guard explicit != nil || mapping != nil else { throw CertificateError("policy constraints are empty") }
        requireExplicitPolicy = explicit
        inhibitPolicyMapping = mapping
    }
}
