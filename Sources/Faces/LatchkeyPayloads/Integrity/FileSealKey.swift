// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import Latchkey
public import SecretMemory

/// How a ``FileSeal`` is made.
public enum FileSealAlgorithm: String, Sendable, CaseIterable {
    /// HMAC-SHA-256 with a shared secret: who can verify can also seal.
    case hmacSHA256 = "hmac-sha256"
    /// ECDSA on P-256 with SHA-256; the signature is r ‖ s, 64 bytes.
    case ecdsaP256SHA256 = "ecdsa-p256-sha256"
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes.
    case rsaPSSSHA512 = "rsa-pss-sha512"

    /// The algorithm with this name.
    ///
    /// - Throws: `errSecUnimplemented` for every other name, with the reason: MD5 and SHA-1 are
    ///   broken, and a hash without a key is made again with the changed file.
    public init(named name: String) throws(KeychainError) {
        guard let algorithm = Self(rawValue: name) else {
            throw KeychainError(
                .unimplemented,
                "the algorithm \(RefusedAlgorithm.shortened(name)) is refused for files: "
                    + RefusedAlgorithm.reason(name),
                hint: "use \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = algorithm
    }
}

/// A key that seals files. Each kind has one algorithm, so that a seal cannot choose it.
public enum FileSealKey: Sendable {
    /// hmac-sha256; at least 32 bytes.
    case shared(SharedSecret)
    /// ecdsa-p256-sha256.
    case p256(P256SigningKey)
    /// rsa-pss-sha512; at least 2048 bits.
    case rsa(RSAPrivateKey)

    /// The algorithm of this kind of key.
    public var algorithm: FileSealAlgorithm {
        switch self {
        case .shared: .hmacSHA256
        case .p256: .ecdsaP256SHA256
        case .rsa: .rsaPSSSHA512
        }
    }

    /// The same key with its operation, common to files and HTTP messages.
    var signingKey: HTTPSigningKey {
        switch self {
        case .shared(let secret): .shared(secret)
        case .p256(let key): .p256(key)
        case .rsa(let key): .rsa(key)
        }
    }
}

/// A key that verifies seals of files.
public enum FileSealVerificationKey: Sendable {
    /// hmac-sha256; at least 32 bytes.
    case shared(SharedSecret)
    /// ecdsa-p256-sha256.
    case p256(VerifyingKey<P256Curve>)
    /// rsa-pss-sha512; at least 2048 bits.
    case rsa(RSAPublicKey)

    /// The algorithm of this kind of key.
    public var algorithm: FileSealAlgorithm {
        switch self {
        case .shared: .hmacSHA256
        case .p256: .ecdsaP256SHA256
        case .rsa: .rsaPSSSHA512
        }
    }

    var verificationKey: HTTPVerificationKey {
        switch self {
        case .shared(let secret): .shared(secret)
        case .p256(let key): .p256(key)
        case .rsa(let key): .rsa(key)
        }
    }
}
