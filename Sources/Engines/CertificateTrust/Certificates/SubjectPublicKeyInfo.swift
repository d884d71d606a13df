// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A certificate's public key (RFC 5280, section 4.1.2.7), of a supported algorithm or not.
public struct SubjectPublicKeyInfo: Hashable, Sendable {
    /// The whole DER `SEQUENCE`, hashed by key pins.
    public let der: ArraySlice<UInt8>
    public let algorithm: AlgorithmIdentifier
    /// The content of the `BIT STRING`: PKCS #1 for RSA, the point for elliptic curves.
    public let key: ArraySlice<UInt8>

    /// The kind of key that the algorithm and its parameters name.
    public enum Kind: Hashable, Sendable {
        case rsa
        case ellipticCurve(ObjectIdentifier)
        case ed25519
        case other(ObjectIdentifier)
    }

    init(_ node: ASN1Node) throws {
        der = node.encodedBytes
        (algorithm, key) = try DER.sequence(node, identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let key = nodes.next() else {
                throw CertificateError("a field of SubjectPublicKeyInfo is missing")
            }
            let bits = try ASN1BitString(derEncoded: key, withIdentifier: .bitString)
            guard bits.paddingBits == 0 else { throw CertificateError("a public key is not a whole number of bytes") }
            return (try AlgorithmIdentifier(algorithm), bits.bytes)
        }
    }

    public static func == (left: Self, right: Self) -> Bool { left.der == right.der }

    public func hash(into hasher: inout Hasher) {
        der.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    public var kind: Kind {
        switch algorithm.algorithm {
        case .rsaEncryption: .rsa
        case .ed25519: .ed25519
        case .ellipticCurvePublicKey: namedCurve.map(Kind.ellipticCurve) ?? .other(.ellipticCurvePublicKey)
        default: .other(algorithm.algorithm)
        }
    }

    /// Whether this is an RSA key, or a key on the NIST prime curve with a field of `bits` bits.
    public func isOn(bits: Int) -> Bool {
        guard case .ellipticCurve(let curve) = kind else { return kind == .rsa }
        let curves: [ObjectIdentifier: Int] = [.p192: 192, .p224: 224, .p256: 256, .p384: 384, .p521: 521]
        return curves[curve] == bits
    }

    /// The named curve; nil for explicit parameters, because RFC 5480 forbids them.
    private var namedCurve: ObjectIdentifier? {
        guard let parameters = algorithm.parameters, let node = try? DER.parse(parameters) else { return nil }
        return try? ObjectIdentifier(node)
    }
}
