// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Maps a policy of the issuer to an equivalent policy of the subject (RFC 5280, section 4.2.1.5).
public struct PolicyMapping: Hashable, Sendable {
    public let issuerPolicy: ObjectIdentifier
    public let subjectPolicy: ObjectIdentifier

    init(_ node: ASN1Node) throws {
        let members = try node.members()
        guard members.count == 2 else {
            throw CertificateError("a policy mapping must have 2 fields, found \(members.count)")
        }
        issuerPolicy = try ObjectIdentifier(members[0])
        subjectPolicy = try ObjectIdentifier(members[1])
        guard issuerPolicy != .anyPolicy, subjectPolicy != .anyPolicy else {
            throw CertificateError("anyPolicy must not be mapped")
        }
    }

    /// The mappings of an extension, at least one.
    static func all(_ node: ASN1Node) throws -> [PolicyMapping] {
        let mappings = try node.members().map(PolicyMapping.init)
        guard !mappings.isEmpty else { throw CertificateError("a list of policy mappings is empty") }
        return mappings
    }
}
