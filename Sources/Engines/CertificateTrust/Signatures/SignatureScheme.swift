// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// An accepted signature algorithm (CA/Browser Forum's Baseline Requirements, section 7.1.3.2).
struct SignatureScheme {
    enum Family {
        /// PKCS #1 v1.5.
        case rsa
        case ecdsa
    }

    let family: Family
    let hash: Hash

    /// Avoids the name of Crypto's protocol `HashFunction`.
    typealias Hash = HashFunction

    /// Nil if the algorithm is not accepted or has invalid parameters.
    init?(_ algorithm: AlgorithmIdentifier) {
        switch algorithm.algorithm {
        case .sha256WithRSA: (family, hash) = (.rsa, .sha256)
        case .sha384WithRSA: (family, hash) = (.rsa, .sha384)
        case .sha512WithRSA: (family, hash) = (.rsa, .sha512)
        case .ecdsaWithSHA256: (family, hash) = (.ecdsa, .sha256)
        case .ecdsaWithSHA384: (family, hash) = (.ecdsa, .sha384)
        case .ecdsaWithSHA512: (family, hash) = (.ecdsa, .sha512)
        default: return nil
        }
        // RFC 4055, section 5: NULL for RSA; absent parameters are accepted as well. RFC 5758,
        // section 3.2: absent for ECDSA.
        guard family == .rsa ? algorithm.hasNoParameters : algorithm.parameters == nil else { return nil }
    }

    /// The usual name of an algorithm, also of a known one that is not accepted.
    static func name(of algorithm: ObjectIdentifier) -> String { names[algorithm] ?? algorithm.description }

    private static let names: [ObjectIdentifier: String] = [
        .md5WithRSA: "MD5 with RSA", .sha1WithRSA: "SHA-1 with RSA", .sha224WithRSA: "SHA-224 with RSA",
        .sha256WithRSA: "SHA-256 with RSA",
        .sha384WithRSA: "SHA-384 with RSA", .sha512WithRSA: "SHA-512 with RSA", .rsaPSS: "RSASSA-PSS",
        .ecdsaWithSHA1: "ECDSA with SHA-1",
        .ecdsaWithSHA224: "ECDSA with SHA-224", .ecdsaWithSHA256: "ECDSA with SHA-256",
        .ecdsaWithSHA384: "ECDSA with SHA-384",
        .ecdsaWithSHA512: "ECDSA with SHA-512", .ed25519: "Ed25519", .ed448: "Ed448",
    ]
}
