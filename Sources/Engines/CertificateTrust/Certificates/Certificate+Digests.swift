// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import OpenSSLCrypto

// Hashes that identify certificates and keys.

extension Certificate {
    /// The SHA-256 fingerprint: the hash of the DER, 32 bytes.
    public var sha256: [UInt8] { Array(SHA256.hash(data: der)) }

    /// The SHA-1 fingerprint: the hash of the DER, 20 bytes. Apple's tools identify certificates by it.
    public var sha1: [UInt8] { Array(Insecure.SHA1.hash(data: der)) }

    /// SHA-1 of the bits of `subjectPublicKey`, without the algorithm. The keychain keeps it as
    /// `pkhh` and joins it to a key's `klbl`.
    public var publicKeyHash: [UInt8] { Array(Insecure.SHA1.hash(data: publicKey.key)) }
}

/// The hash function of a signature algorithm, strong or not.
public enum SignatureHash: String, Hashable, Sendable, CaseIterable {
    case md5 = "MD5"
    case sha1 = "SHA-1"
    case sha224 = "SHA-224"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"
}

extension Certificate {
    /// The hash function of the issuer's signature; nil if the algorithm is not known or has no separate hash function.
    public var signatureHash: SignatureHash? {
        switch signatureAlgorithm.algorithm {
        case .md5WithRSA: .md5
        case .sha1WithRSA, .ecdsaWithSHA1: .sha1
        case .sha224WithRSA, .ecdsaWithSHA224: .sha224
        case .sha256WithRSA, .ecdsaWithSHA256: .sha256
        case .sha384WithRSA, .ecdsaWithSHA384: .sha384
        case .sha512WithRSA, .ecdsaWithSHA512: .sha512
        default: nil
        }
    }
}

extension SubjectPublicKeyInfo {
    /// SHA-256 of the DER of the SubjectPublicKeyInfo, 32 bytes: the value of a key pin.
    public var sha256: [UInt8] { Array(SHA256.hash(data: der)) }
}
