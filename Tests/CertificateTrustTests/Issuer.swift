// SPDX-License-Identifier: Apache-2.0

import Crypto

@testable import CertificateTrust

/// A name with a key that issues certificates in tests.
struct Issuer {
    var name: String
    var key = P256.Signing.PrivateKey()

    init(_ name: String) { self.name = name }

    static let authority = CertificateTemplate.extension(
        "2.5.29.19", critical: true, DERWriter.sequence(DERWriter.boolean(true)))
    static let signsCertificates = CertificateTemplate.extension(
        "2.5.29.15", critical: true, DERWriter.bits([0x06], unused: 1))

    static func authority(pathLength: Int) -> [UInt8] {
        CertificateTemplate.extension(
            "2.5.29.19", critical: true, DERWriter.sequence(DERWriter.boolean(true), DERWriter.integer(pathLength)))
    }

    private static func hash(_ key: P256.Signing.PrivateKey) -> [UInt8] {
        Array(SHA256.hash(data: key.publicKey.x963Representation).prefix(20))
    }

    static func identifier(_ key: P256.Signing.PrivateKey) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.14", DERWriter.octets(hash(key)))
    }

    static func identifier(ofIssuer key: P256.Signing.PrivateKey) -> [UInt8] {
        CertificateTemplate.extension("2.5.29.35", DERWriter.sequence(DERWriter.implicit(0, hash(key))))
    }

    /// A CA certificate for this name and key, issued by `issuer`, with changes of the test.
    func certificate(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate
    {
        try Certificate(der: bytes(by: issuer, change))
    }

    /// Returns the DER of the same certificate. Changes may make it unreadable.
    func bytes(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> [UInt8] {
        var template = CertificateTemplate(
            issuer: CertificateTemplate.name(issuer.name), subject: CertificateTemplate.name(name),
            publicKey: CertificateTemplate.publicKey(key), extensions: [Self.authority, Self.signsCertificates],
            keyIdentifiers: [Self.identifier(key), Self.identifier(ofIssuer: issuer.key)])
        change(&template)
        return try template.signed(by: issuer.key)
    }

    /// An end-entity certificate for this name and key, issued by `issuer`, with changes of the
    /// test.
    func leaf(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
        try Certificate(der: leafBytes(by: issuer, change))
    }

    /// Returns the DER of the same certificate. Changes may make it unreadable.
    func leafBytes(by issuer: Issuer, _ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> [UInt8] {
        try bytes(by: issuer) {
            // A validity period that Apple's systems accept of a server.
            $0.notAfter = CertificateTemplate.time("20270301000000Z")
            $0.extensions = [
                CertificateTemplate.extension(
                    "2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8))))
            ]
            change(&$0)
        }
    }
}
