// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Identifies the issuer's key that signed the certificate (RFC 5280, section 4.2.1.1).
public struct AuthorityKeyIdentifier: Sendable {
    public let keyIdentifier: ArraySlice<UInt8>?
    public let issuer: [GeneralName]?
    public let serialNumber: ArraySlice<UInt8>?

    init(_ node: ASN1Node) throws {
        var (identifier, issuer, serialNumber): (ArraySlice<UInt8>?, [GeneralName]?, ArraySlice<UInt8>?) = (
            nil, nil, nil
        )
        var last: UInt?
        for member in try node.members() {
            let tag = member.identifier.tagNumber
            guard member.identifier.tagClass == .contextSpecific, last.map({ $0 < tag }) ?? true else {
                throw CertificateError("the fields of an authority key identifier are out of order")
            }
            last = tag
            switch tag {
            case 0: identifier = member.implicit(0)
            case 1: issuer = try GeneralName.all(member, member.identifier)
            case 2: serialNumber = member.implicit(2)
            default: throw CertificateError("unexpected field \(tag) in an authority key identifier")
            }
        }
        self.keyIdentifier = identifier
        self.issuer = issuer
        self.serialNumber = serialNumber
    }
}
