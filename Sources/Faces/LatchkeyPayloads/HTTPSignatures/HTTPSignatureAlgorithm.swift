// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
public import KeychainModel
public import Latchkey
public import SecretMemory

/// An algorithm of HTTP message signatures (RFC 9421, section 3.3).
public enum HTTPSignatureAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256; the signature is r ‖ s, 64 bytes.
    case ecdsaP256SHA256 = "ecdsa-p256-sha256"
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes.
    case rsaPSSSHA512 = "rsa-pss-sha512"
    /// HMAC-SHA-256 with a shared secret.
    case hmacSHA256 = "hmac-sha256"

    /// The algorithm with this name.
    ///
    /// - Throws: `errSecUnimplemented` for every other name, with the reason.
    public init(named name: String) throws(KeychainError) {
        guard let algorithm = Self(rawValue: name) else {
            let shown = RefusedAlgorithm.shortened(name)
            throw KeychainError(
                .unimplemented, "the signature algorithm \(shown) is refused: \(RefusedAlgorithm.reason(name))",
                hint: "use \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = algorithm
    }
}

/// A key that signs HTTP messages. Each kind has one algorithm, so that a message cannot choose it.
public enum HTTPSigningKey: Sendable {
    /// ecdsa-p256-sha256.
    case p256(P256SigningKey)
    /// rsa-pss-sha512; at least 2048 bits.
    case rsa(RSAPrivateKey)
    /// hmac-sha256; at least 32 bytes.
    case shared(SharedSecret)

    /// The algorithm of this kind of key.
    public var algorithm: HTTPSignatureAlgorithm {
        switch self {
        case .p256: .ecdsaP256SHA256
        case .rsa: .rsaPSSSHA512
        case .shared: .hmacSHA256
        }
    }

    func signature(of base: [UInt8]) throws(KeychainError) -> [UInt8] {
        switch self {
        case .p256(let key): return Array(try key.rawSignature(for: base))
        case .rsa(let key):
            try HTTPVerificationKey.requireStrength(try key.publicKey.key.kind)
            return Array(try key.signature(for: base, .pss(.sha512)))
        case .shared(let secret): return try MessageCode.code(of: base, secret)
        }
    }
}

/// A key that verifies signatures of HTTP messages.
public enum HTTPVerificationKey: Sendable {
    /// ecdsa-p256-sha256.
    case p256(VerifyingKey<P256Curve>)
    /// rsa-pss-sha512; at least 2048 bits.
    case rsa(RSAPublicKey)
    /// hmac-sha256; at least 32 bytes.
    case shared(SharedSecret)

    /// The algorithm of this kind of key.
    public var algorithm: HTTPSignatureAlgorithm {
        switch self {
        case .p256: .ecdsaP256SHA256
        case .rsa: .rsaPSSSHA512
        case .shared: .hmacSHA256
        }
    }

    func isSignature(_ signature: [UInt8], of base: [UInt8]) throws(KeychainError) -> Bool {
        switch self {
        case .p256(let key): return try key.isValidRawSignature(signature, for: base)
        case .rsa(let key):
            try Self.requireStrength(key.key.kind)
            return try key.isValidSignature(signature, for: base, .pss(.sha512))
        case .shared(let secret): return try MessageCode.isCode(signature, of: base, secret)
        }
    }

    static func requireStrength(_ kind: KeyKind) throws(KeychainError) {
        guard kind.bits >= 2048 else {
            throw KeychainError(.keySizeNotAllowed, "an RSA key must have at least 2048 bits, found \(kind.bits)")
        }
    }
}
