// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

@testable import CertificateTrust

/// The fields of a certificate to make; a test can make each of them invalid.
struct CertificateTemplate {
    var version: Int? = 3
    var serialNumber: [UInt8] = DERWriter.integer(0x1234_5678)
    var innerAlgorithm = Self.ecdsaWithSHA256
    var outerAlgorithm = Self.ecdsaWithSHA256
    var issuer: [UInt8]
    var notBefore: [UInt8] = time("20250101000000Z")
    var notAfter: [UInt8] = time("20450101000000Z")
    var subject: [UInt8]
    var publicKey: [UInt8]
    /// Nil to omit the field.
    var extensions: [[UInt8]]? = []
    /// Added after ``extensions``, unless that is nil.
    var keyIdentifiers: [[UInt8]] = []

    static let ecdsaWithSHA256 = DERWriter.sequence(DERWriter.identifier("1.2.840.10045.4.3.2"))

    /// A name with only a common name.
    static func name(_ commonName: String) -> [UInt8] {
        commonName.isEmpty
            ? DERWriter.sequence()
            : DERWriter.sequence(
                DERWriter.set(DERWriter.sequence(DERWriter.identifier("2.5.4.3"), DERWriter.utf8(commonName))))
    }

    /// `UTCTime` for 1950 to 2049 in the usual form, `GeneralizedTime` for anything else.
    static func time(_ text: String) -> [UInt8] {
        guard text.utf8.count == 15, "1950" <= text.prefix(4), text.prefix(4) < "2050" else {
            return DERWriter.element(0x18, Array(text.utf8))
        }
        return DERWriter.element(0x17, Array(text.utf8.dropFirst(2)))
    }

    static func `extension`(_ identifier: String, critical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.identifier(identifier), critical ? DERWriter.boolean(true) : [], DERWriter.octets(value))
    }

    static func publicKey(_ key: P256.Signing.PrivateKey) -> [UInt8] { Array(key.publicKey.derRepresentation) }

    var signedBytes: [UInt8] {
        DERWriter.sequence(
            version.map { DERWriter.explicit(0, DERWriter.integer($0 - 1)) } ?? [], serialNumber, innerAlgorithm,
            issuer,
            DERWriter.sequence(notBefore, notAfter), subject, publicKey,
            extensions.map { DERWriter.explicit(3, DERWriter.element(0x30, ($0 + keyIdentifiers).flatMap { $0 })) }
                ?? [])
    }

    func signed(by key: P256.Signing.PrivateKey) throws -> [UInt8] {
        let signature = try key.signature(for: Data(signedBytes)).derRepresentation
        return DERWriter.sequence(signedBytes, outerAlgorithm, DERWriter.bits(Array(signature)))
    }

    func certificate(by key: P256.Signing.PrivateKey) throws -> Certificate { try Certificate(der: signed(by: key)) }
}
