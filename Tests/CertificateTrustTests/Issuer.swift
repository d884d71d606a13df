// SPDX-License-Identifier: Apache-2.0

import Crypto

@testable import CertificateTrust

/// Somebody with a name and a key, who issues certificates for others in tests.
struct Issuer {
    var name: String
    var key = P256.Signing.PrivateKey()

    init(_ name: String) { self.name = name }

    static let authority = CertificateTemplate.extension("2.5.29.19", critical: true, DERWriter.sequence(DERWriter.boolean(true)))
    static let signsCertificates = CertificateTemplate.extension("2.5.29.15", critical: true, DERWriter.bits([0x06], unused: 1))

    static func authority(pathLength: Int) -> [UInt8] {
        CertificateTemplate.extension(
            "2.5.29.19", critical: true, DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(pathLength)))
    }

    /// A certificate of an authority, for this one by another, changed by the test.
    func certificate(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
        var template = CertificateTemplate(
            issuer: CertificateTemplate.name(issuer.name), subject: CertificateTemplate.name(name),
            publicKey: CertificateTemplate.publicKey(key), extensions: [Self.authority, Self.signsCertificates])
        change(&template)
        return try template.certificate(by: issuer.key)
    }

    /// A certificate of an end entity.
    func leaf(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
        try certificate(by: issuer) {
            $0.extensions = [
                CertificateTemplate.extension("2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8))))
            ]
            change(&$0)
        }
    }
}
