// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// What is asked of the policies of the certificates below (RFC 5280, section 4.2.1.11).
public struct PolicyConstraints: Hashable, Sendable {
    /// After how many certificates an explicit policy is required.
    public let requireExplicitPolicy: Int?
    /// After how many certificates policies may not be mapped any more.
    public let inhibitPolicyMapping: Int?

    init(_ node: ASN1Node) throws {
        var (explicit, mapping): (Int?, Int?)
        for member in try node.members() {
            if member.isContextSpecific(0), explicit == nil, mapping == nil {
                explicit = try member.number(member.identifier)
            } else if member.isContextSpecific(1), mapping == nil {
                mapping = try member.number(member.identifier)
            } else {
                throw CertificateError("policy constraints have an unknown part")
            }
        }
        guard explicit != nil || mapping != nil else { throw CertificateError("policy constraints are empty") }
        requireExplicitPolicy = explicit
        inhibitPolicyMapping = mapping
    }
}
