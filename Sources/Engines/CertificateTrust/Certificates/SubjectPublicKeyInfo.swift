// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A public key as certificates hold it (RFC 5280, section 4.1.2.7), of an algorithm that is served here or not.
public struct SubjectPublicKeyInfo: Hashable, Sendable {
    /// The whole DER `SEQUENCE`: what pins are a hash of.
    public let der: ArraySlice<UInt8>
    public let algorithm: AlgorithmIdentifier
    /// What the `BIT STRING` holds: PKCS #1 for RSA, the point for elliptic curves.
    public let key: ArraySlice<UInt8>

    /// What the algorithm and its parameters say the key is.
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
                throw CertificateError("a public key lacks a part")
            }
            let bits = try ASN1BitString(derEncoded: key, withIdentifier: .bitString)
            guard bits.paddingBits == 0 else { throw CertificateError("a public key is not whole bytes") }
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

    /// Whether this is a key of RSA, or of the one curve over a field of so many bits that NIST named first.
    public func isOn(bits: Int) -> Bool {
        guard case .ellipticCurve(let curve) = kind else { return kind == .rsa }
        let curves: [ObjectIdentifier: Int] = [.p192: 192, .p224: 224, .p256: 256, .p384: 384, .p521: 521]
        return curves[curve] == bits
    }

    /// Nil where the curve is spelled out, which RFC 5480 forbids.
    private var namedCurve: ObjectIdentifier? {
        guard let parameters = algorithm.parameters, let node = try? DER.parse(parameters) else { return nil }
        return try? ObjectIdentifier(node)
    }
}
