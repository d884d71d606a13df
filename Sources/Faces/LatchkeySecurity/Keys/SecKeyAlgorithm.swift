// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An algorithm for an operation with a key. The raw values are Apple's (keychain-behaviour §6.1).
///
/// `…Digest…` takes a digest, `…Message…` hashes first. Not every key supports every algorithm; see
/// `SecKeyIsAlgorithmSupported`.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    /// The name as a Swift string.
    let name: String

    /// Apple's name of the algorithm, such as `algid:sign:RSA:raw`.
    public var rawValue: CFString { name as NSString }

    /// The algorithm with Apple's name. A name that is not known is an unsupported algorithm.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// The algorithm with Apple's name. A name that is not known is an unsupported algorithm.
    public init(_ rawValue: CFString) {
        self.init(rawValue: rawValue)
    }

    private init(name: String) {
        self.name = name
    }
}

// MARK: RSA signatures

extension SecKeyAlgorithm {
    /// RSA of one block as long as the modulus, without padding.
    public static let rsaSignatureRaw = SecKeyAlgorithm(name: "algid:sign:RSA:raw")
    /// RSA signature with the padding of PKCS #1 v1.5 and without an identifier of the hash: the
    /// input is padded as it is.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15")
    /// RSA signature, PKCS #1 v1.5, of a SHA-1 digest.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA1")
    /// RSA signature, PKCS #1 v1.5, of a SHA-224 digest.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA224")
    /// RSA signature, PKCS #1 v1.5, of a SHA-256 digest.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA256")
    /// RSA signature, PKCS #1 v1.5, of a SHA-384 digest.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA384")
    /// RSA signature, PKCS #1 v1.5, of a SHA-512 digest.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:SHA512")
    /// RSA signature, PSS with a salt as long as the digest, of a SHA-1 digest.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
    /// RSA signature, PSS with a salt as long as the digest, of a SHA-224 digest.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
    /// RSA signature, PSS with a salt as long as the digest, of a SHA-256 digest.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
    /// RSA signature, PSS with a salt as long as the digest, of a SHA-384 digest.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    /// RSA signature, PSS with a salt as long as the digest, of a SHA-512 digest.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
    /// RSA signature, PKCS #1 v1.5, of a message that is hashed first, with SHA-1.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:SHA1")
    /// RSA signature, PKCS #1 v1.5, of a message that is hashed first, with SHA-224.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA224")
    /// RSA signature, PKCS #1 v1.5, of a message that is hashed first, with SHA-256.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA256")
    /// RSA signature, PKCS #1 v1.5, of a message that is hashed first, with SHA-384.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA384")
    /// RSA signature, PKCS #1 v1.5, of a message that is hashed first, with SHA-512.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PKCS1v15:SHA512")
    /// RSA signature, PSS with a salt as long as the digest, of a message that is hashed first, with SHA-1.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
    /// RSA signature, PSS with a salt as long as the digest, of a message that is hashed first, with SHA-224.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA224:SHA224:24")
    /// RSA signature, PSS with a salt as long as the digest, of a message that is hashed first, with SHA-256.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
    /// RSA signature, PSS with a salt as long as the digest, of a message that is hashed first, with SHA-384.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
    /// RSA signature, PSS with a salt as long as the digest, of a message that is hashed first, with SHA-512.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(
        name: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")
}

// MARK: ECDSA signatures

extension SecKeyAlgorithm {
    /// The older name of ``ecdsaSignatureDigestRFC4754``.
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:RFC4754")
    /// ECDSA signature as r ‖ s, of a digest of any length.
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754")
    /// ECDSA signature as r ‖ s, of a SHA-1 digest.
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// ECDSA signature as r ‖ s, of a SHA-224 digest.
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// ECDSA signature as r ‖ s, of a SHA-256 digest.
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// ECDSA signature as r ‖ s, of a SHA-384 digest.
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// ECDSA signature as r ‖ s, of a SHA-512 digest.
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:digest-RFC4754:SHA512")
    /// ECDSA signature as r ‖ s, of a message that is hashed first, with SHA-1.
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-RFC4754:SHA1")
    /// ECDSA signature as r ‖ s, of a message that is hashed first, with SHA-224.
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA224")
    /// ECDSA signature as r ‖ s, of a message that is hashed first, with SHA-256.
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA256")
    /// ECDSA signature as r ‖ s, of a message that is hashed first, with SHA-384.
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA384")
    /// ECDSA signature as r ‖ s, of a message that is hashed first, with SHA-512.
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(
        name: "algid:sign:ECDSA:message-RFC4754:SHA512")
    /// ECDSA signature as DER, of a digest of any length.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962")
    /// ECDSA signature as DER, of a SHA-1 digest.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA1")
    /// ECDSA signature as DER, of a SHA-224 digest.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA224")
    /// ECDSA signature as DER, of a SHA-256 digest.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA256")
    /// ECDSA signature as DER, of a SHA-384 digest.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA384")
    /// ECDSA signature as DER, of a SHA-512 digest.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:digest-X962:SHA512")
    /// ECDSA signature as DER, of a message that is hashed first, with SHA-1.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA1")
    /// ECDSA signature as DER, of a message that is hashed first, with SHA-224.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA224")
    /// ECDSA signature as DER, of a message that is hashed first, with SHA-256.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA256")
    /// ECDSA signature as DER, of a message that is hashed first, with SHA-384.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA384")
    /// ECDSA signature as DER, of a message that is hashed first, with SHA-512.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(name: "algid:sign:ECDSA:message-X962:SHA512")
}

// MARK: RSA encryption

extension SecKeyAlgorithm {
    /// RSA of one block as long as the modulus, without padding.
    public static let rsaEncryptionRaw = SecKeyAlgorithm(name: "algid:encrypt:RSA:raw")
    /// RSA encryption of one block with the padding of PKCS #1 v1.5.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:PKCS1")
    /// RSA encryption of one block with OAEP and SHA-1.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1")
    /// RSA encryption of one block with OAEP and SHA-224.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224")
    /// RSA encryption of one block with OAEP and SHA-256.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256")
    /// RSA encryption of one block with OAEP and SHA-384.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384")
    /// RSA encryption of one block with OAEP and SHA-512.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512")
    /// RSA encryption of a session key with OAEP and SHA-1, and of the data, of any length, with
    /// AES-GCM.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
    /// RSA encryption of a session key with OAEP and SHA-224, and of the data, of any length, with
    /// AES-GCM.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
    /// RSA encryption of a session key with OAEP and SHA-256, and of the data, of any length, with
    /// AES-GCM.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
    /// RSA encryption of a session key with OAEP and SHA-384, and of the data, of any length, with
    /// AES-GCM.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
    /// RSA encryption of a session key with OAEP and SHA-512, and of the data, of any length, with
    /// AES-GCM.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(name: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")
}

// MARK: ECIES

extension SecKeyAlgorithm {
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-1, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-224, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-256, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-384, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-512, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-1, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-224, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-256, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-384, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-512, and AES-GCM with an IV of
    /// zeros.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-224, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-256, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-384, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with standard ECDH, the X9.63 derivation with SHA-512, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-224, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-256, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-384, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, the X9.63 derivation with SHA-512, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        name: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")
}

// MARK: Key exchange

extension SecKeyAlgorithm {
    /// Standard ECDH, without derivation: the x coordinate of the common point.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(name: "algid:keyexchange:ECDH")
    /// Standard ECDH, and the X9.63 derivation with SHA-1.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA1")
    /// Standard ECDH, and the X9.63 derivation with SHA-224.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA224")
    /// Standard ECDH, and the X9.63 derivation with SHA-256.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA256")
    /// Standard ECDH, and the X9.63 derivation with SHA-384.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA384")
    /// Standard ECDH, and the X9.63 derivation with SHA-512.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(name: "algid:keyexchange:ECDH:KDFX963:SHA512")
    /// Cofactor ECDH, without derivation: the x coordinate of the common point.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC")
    /// Cofactor ECDH, and the X9.63 derivation with SHA-1.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(name: "algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// Cofactor ECDH, and the X9.63 derivation with SHA-224.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// Cofactor ECDH, and the X9.63 derivation with SHA-256.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// Cofactor ECDH, and the X9.63 derivation with SHA-384.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// Cofactor ECDH, and the X9.63 derivation with SHA-512.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(
        name: "algid:keyexchange:ECDHC:KDFX963:SHA512")
}

// MARK: Unsupported

extension SecKeyAlgorithm {
    /// Unsupported: no key supports this algorithm.
    public static let rsaSignatureRawCCUnit = SecKeyAlgorithm(name: "algid:sign:RSA:raw-cc")
    /// Unsupported: no key supports this algorithm.
    public static let rsaSignatureDigestPKCS1v15MD5 = SecKeyAlgorithm(name: "algid:sign:RSA:digest-PKCS1v15:MD5")
    /// Unsupported: no key supports this algorithm.
    public static let rsaSignatureMessagePKCS1v15MD5 = SecKeyAlgorithm(name: "algid:sign:RSA:message-PKCS1v15:MD5")
    /// Unsupported: no key supports this algorithm.
    public static let rsaEncryptionRawCCUnit = SecKeyAlgorithm(name: "algid:encrypt:RSA:raw-cc")
    /// Unsupported: no key supports this algorithm.
    public static let eciesEncryptionAKSSmartCard = SecKeyAlgorithm(name: "algid:encrypt:ECIES:ECDH:SHA256:2PubKeys")
    /// Unsupported: no key supports this algorithm.
    public static let edDSASignatureMessageCurve25519SHA512 = SecKeyAlgorithm(
        name: "algid:sign:EdDSA:message-Curve25519:SHA512")
    /// Unsupported: no key supports this algorithm.
    public static let edDSASignatureMessageCurve448SHAKE256 = SecKeyAlgorithm(
        name: "algid:sign:EdDSA:message-Curve448:SHAKE256")
    /// Unsupported: no key supports this algorithm.
    public static let kemKyber = SecKeyAlgorithm(name: "algid:kem:kyber")
    /// Unsupported: no key supports this algorithm.
    public static let kemMLKEM = SecKeyAlgorithm(name: "algid:kem:ML-KEM")
    /// Unsupported: no key supports this algorithm.
    public static let mldsaSignatureMessage = SecKeyAlgorithm(name: "algid:sign:ML-DSA:message")
}
