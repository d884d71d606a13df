// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SwiftASN1

// The numbers of an RSA key, and the size and the description of a key.

extension SubjectPublicKeyInfo {
    /// Modulus and public exponent of an RSA key, big-endian, without leading zeros.
    ///
    /// - Throws: if either is not positive and odd, or the exponent is 1 or over 64 bits.
    func rsaNumbers() throws(CertificateError) -> (modulus: [UInt8], exponent: [UInt8]) {
        guard let members = try? DER.parse(key).members(), members.count == 2,
            let modulus = try? members[0].integerContent(),
            let exponent = try? members[1].integerContent(), (modulus.first ?? 0x80) < 0x80,
            (exponent.first ?? 0x80) < 0x80
        else { throw CertificateError("an RSA key must be two positive INTEGERs") }
        let (n, e) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
        if let defect = RSAPublicNumbers.defect(modulus: n, exponent: e) { throw CertificateError(defect) }
        return (n, e)
    }
}

extension SubjectPublicKeyInfo {
    /// The bits of an RSA key's modulus, or of the field of a NIST prime curve; nil for other keys and
    /// for an RSA key that cannot be read.
    public var bits: Int? {
        switch kind {
        case .rsa: (try? rsaNumbers()).map { RSAPublicNumbers.bits(of: $0.modulus) }
        case .ellipticCurve: [192, 224, 256, 384, 521].first(where: isOn(bits:))
        case .ed25519, .other: nil
        }
    }
}

// MARK: CustomStringConvertible

extension SubjectPublicKeyInfo: CustomStringConvertible {
    /// `RSA-2048`, `P-256`, `Ed25519`, or the object identifier if there is no name here.
    public var description: String {
        switch kind {
        case .rsa:
            (try? rsaNumbers()).map { "RSA-\(RSAPublicNumbers.bits(of: $0.modulus))" } ?? "RSA"
        case .ellipticCurve(let curve): Self.curves[curve] ?? "the curve \(curve)"
        case .ed25519: "Ed25519"
        case .other(.ed448): "Ed448"
        case .other(.rsaPSS): "RSASSA-PSS"
        case .other(let algorithm): "the algorithm \(algorithm)"
        }
    }

    private static let curves: [ObjectIdentifier: String] = [
        .p192: "P-192", .p224: "P-224", .p256: "P-256", .p384: "P-384", .p521: "P-521",
        ObjectIdentifier(1, 3, 132, 0, 10): "secp256k1",
    ]
}
