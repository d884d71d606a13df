// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Authority information access: where the issuer's certificate and OCSP responders are (RFC 5280,
/// section 4.2.2.1).
public struct AuthorityInformation: Sendable {
    public let ocspResponders: [String]
    public let issuerCertificates: [String]

    init(_ node: ASN1Node) throws {
        var locations: [ObjectIdentifier: [String]] = [:]
        for member in try node.members() {
            let parts = try member.members()
            guard parts.count == 2 else {
                throw CertificateError("an access description must have 2 fields, found \(parts.count)")
            }
            if case .uri(let bytes) = try GeneralName(parts[1]) {
                locations[try ObjectIdentifier(parts[0]), default: []].append(String(decoding: bytes, as: UTF8.self))
            }
        }
        ocspResponders = locations[.ocspAccess] ?? []
        issuerCertificates = locations[.issuersAccess] ?? []
    }
}
