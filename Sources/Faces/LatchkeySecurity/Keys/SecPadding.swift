// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeyServices
internal import KeychainModel
internal import SecretMemory

/// The padding of the older functions; `[]` for none.
public struct SecPadding: OptionSet, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: UInt32

    /// A set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The padding of PKCS #1 v1.5.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP with SHA-1; only for encryption.
    public static let OAEP = SecPadding(rawValue: 2)
    /// For elliptic curves: r ‖ s instead of DER.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// Unsupported.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// Unsupported.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS #1 v1.5 for a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS #1 v1.5 for a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS #1 v1.5 for a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS #1 v1.5 for a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS #1 v1.5 for a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

/// Signs a digest. `SecKeyCreateSignature` supports more algorithms.
///
/// - Parameters:
///   - key: the key.
///   - padding: the padding.
///   - dataToSign: the digest.
///   - dataToSignLen: the length of `dataToSign` in bytes.
///   - sig: receives the signature.
///   - sigLen: the capacity of `sig` in bytes; receives the length of the signature.
/// - Returns: errSecSuccess; errSecParam if the capacity is too small, the digest has the wrong
///   length, or the padding is MD2 or MD5.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status {
        let input = try inputBuffer(dataToSign, dataToSignLen)
        let signature = try key.body.requirePrivate().signature(of: input, try padding.signature(for: key))
        try write(signature, to: sig, sigLen)
    }
}

/// Verifies the signature of a digest.
///
/// - Returns: errSecSuccess; errSecVerifyFailed; errSecParam.
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    status {
        let algorithm = try padding.signature(for: key)
        guard algorithm.isSupported(by: key.body.publicKey.kind, key.body.half, for: .verify) else {
            throw KeychainError.parameter("the key does not support verification")
        }
        let isSigned = try key.body.publicKey.isSignature(
            try inputBuffer(sig, sigLen), of: try inputBuffer(signedData, signedDataLen), algorithm)
        guard isSigned else { throw KeychainError(.verifyFailed) }
    }
}

/// Encrypts one block with RSA.
///
/// - Parameters:
///   - key: the key.
///   - padding: the padding.
///   - plainText: the data to encrypt.
///   - plainTextLen: the length of `plainText` in bytes.
///   - cipherText: receives the ciphertext.
///   - cipherTextLen: the capacity of `cipherText` in bytes; receives the length of the ciphertext.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status {
        guard !key.body.isPrivate else {
            throw KeychainError.parameter("encryption requires a public key, not a private one")
        }
        let block = try key.body.publicKey.encrypted(try inputBuffer(plainText, plainTextLen), try padding.encryption())
        try write(block, to: cipherText, cipherTextLen)
    }
}

/// Decrypts one block with RSA.
///
/// - Parameters:
///   - key: the key.
///   - padding: the padding.
///   - cipherText: the data to decrypt.
///   - cipherTextLen: the length of `cipherText` in bytes.
///   - plainText: receives the plaintext.
///   - plainTextLen: the capacity of `plainText` in bytes; receives the length of the plaintext.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status {
        let secret = try key.body.requirePrivate().decrypted(
            try inputBuffer(cipherText, cipherTextLen), try padding.encryption())
        guard secret.count <= plainTextLen.pointee else {
            throw KeychainError.parameter("the buffer is too small for the plaintext")
        }
        secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: plainText, count: $0.count).copyMemory(from: $0) }
        plainTextLen.pointee = secret.count
    }
}

private func inputBuffer(_ bytes: UnsafePointer<UInt8>, _ count: Int) throws(KeychainError) -> UnsafeRawBufferPointer {
    guard count >= 0 else { throw .parameter("a length must not be negative") }
    return UnsafeRawBufferPointer(start: bytes, count: count)
}

private func write(_ bytes: [UInt8], to target: UnsafeMutablePointer<UInt8>, _ length: UnsafeMutablePointer<Int>)
    throws(KeychainError)
{
    guard bytes.count <= length.pointee else { throw .parameter("the buffer is too small for \(bytes.count) bytes") }
    UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyBytes(from: bytes)
    length.pointee = bytes.count
}

extension SecPadding {
    fileprivate func signature(for key: SecKey) throws(KeychainError) -> KeyAlgorithm {
        if key.body.publicKey.kind.type == .ellipticCurve {
            switch self {
            case .sigRaw: return .ecdsa(.rfc4754, .digest(nil))
            case [], .PKCS1, .PKCS1SHA1, .PKCS1SHA224, .PKCS1SHA256, .PKCS1SHA384, .PKCS1SHA512:
                return .ecdsa(.x962, .digest(nil))
            default: throw .parameter("the padding \(rawValue) is not a padding for signatures")
            }
        }
        switch self {
        case []: return .rsaSignature(.raw)
        case .PKCS1: return .rsaSignature(.pkcs1(.digest(nil)))
        case .PKCS1SHA1: return .rsaSignature(.pkcs1(.digest(.sha1)))
        case .PKCS1SHA224: return .rsaSignature(.pkcs1(.digest(.sha224)))
        case .PKCS1SHA256: return .rsaSignature(.pkcs1(.digest(.sha256)))
        case .PKCS1SHA384: return .rsaSignature(.pkcs1(.digest(.sha384)))
        case .PKCS1SHA512: return .rsaSignature(.pkcs1(.digest(.sha512)))
        default: throw .parameter("the padding \(rawValue) is not a padding for signatures")
        }
    }

    fileprivate func encryption() throws(KeychainError) -> KeyAlgorithm {
        switch self {
        case []: return .rsaEncryption(.raw)
        case .PKCS1: return .rsaEncryption(.pkcs1)
        case .OAEP: return .rsaEncryption(.oaep(.sha1))
        default: throw .parameter("the padding \(rawValue) is not a padding for encryption")
        }
    }
}
