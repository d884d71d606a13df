// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeyServices
internal import KeychainModel
internal import SecretMemory

/// Returns a signature made with a private key.
///
/// ```swift
/// let signature = SecKeyCreateSignature(
///     key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)
/// ```
///
/// - Parameters:
///   - key: the key.
///   - algorithm: the algorithm; the key must support it.
///   - dataToSign: the message, or the digest for `…Digest…`.
///   - error: receives errSecParam if the key does not support the algorithm or a digest has the
///     wrong length; for a key in the keychain also errSecInteractionNotAllowed,
///     errSecItemNotFound, errSecKeyUsageIncorrect.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        let signature = try key.body.requirePrivate().signature(of: dataToSign.rawBytes, try algorithm.known())
        return NSData(bytes: signature, length: signature.count)
    }
}

/// Returns whether the signature was made with the other half of the key pair.
///
/// - Parameters:
///   - key: the key.
///   - algorithm: the algorithm; the key must support it.
///   - signedData: the digest or the message that was signed.
///   - signature: the signature.
///   - error: receives errSecVerifyFailed if it was not; errSecParam if the key does not support
///     the algorithm or a digest has the wrong length.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isSigned = reporting(to: error) {
        let known = try algorithm.known()
        // A private RSA key verifies like its public half. A private key of an elliptic curve is
        // refused, as SecKeyIsAlgorithmSupported reports.
        guard known.isSupported(by: key.body.publicKey.kind, key.body.half, for: .verify) else {
            throw KeychainError.parameter("the key does not support verification with \(algorithm.name)")
        }
        guard try key.body.publicKey.isSignature(signature.rawBytes, of: signedData.rawBytes, known) else {
            throw KeychainError(.verifyFailed)
        }
        return true
    }
    return isSigned ?? false
}

/// Returns a ciphertext that only the private half can decrypt.
///
/// - Parameters:
///   - key: the key.
///   - algorithm: the algorithm; the key must support it.
///   - plaintext: the data to encrypt.
///   - error: receives errSecParam if the key does not support the algorithm, or the data is too
///     long for a block.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        guard !key.body.isPrivate else {
            throw KeychainError.parameter("encryption requires a public key, not a private one")
        }
        let ciphertext = try key.body.publicKey.encrypted(plaintext.rawBytes, try algorithm.known())
        return NSData(bytes: ciphertext, length: ciphertext.count)
    }
}

/// Returns the plaintext that was encrypted for a private key.
///
/// - Parameters:
///   - key: the key.
///   - algorithm: the algorithm; the key must support it.
///   - ciphertext: the data to decrypt.
///   - error: receives errSecParam for every defect of the ciphertext; for a key in the keychain
///     also the statuses of `SecKeyCreateSignature`.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        NSData(exposing: try key.body.requirePrivate().decrypted(ciphertext.rawBytes, try algorithm.known()))
    }
}

/// Returns the shared secret of a private key and the other party's public key.
///
/// - Parameters:
///   - privateKey: this party's private key.
///   - algorithm: the algorithm; the key must support it.
///   - publicKey: the other party's public key.
///   - parameters: for algorithms with a key derivation `SecKeyKeyExchangeParameter.requestedSize`,
///     and `.sharedInfo` if both parties use it.
///   - error: receives errSecParam if the keys do not match, or a parameter is missing or of the
///     wrong type.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        let parameters = try ExchangeParameters(parsing: parameters)
        let sharedSecret = try privateKey.body.requirePrivate().exchanged(
            with: publicKey.body.publicKey, try algorithm.known(), parameters)
        return NSData(exposing: sharedSecret)
    }
}

/// A parameter of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    /// Apple's name of the parameter.
    public var rawValue: CFString { name as NSString }

    /// The parameter with Apple's name.
    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// The length of the result in bytes: a number.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// Input to the derivation that both parties know: Data.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

extension ExchangeParameters {
    fileprivate init(parsing dictionary: CFDictionary) throws(KeychainError) {
        self.init()
        var named: [String: Any] = [:]
        for (key, value) in dictionary.entries {
            // The keys of `[SecKeyKeyExchangeParameter: Any]` are not converted to strings.
            if let name = key as? String ?? (key as? SecKeyKeyExchangeParameter)?.name { named[name] = value }
        }
        if let value = named["requestedSize"] {
            guard ValueConversion.boolean(value) == nil, let size = ValueConversion.integer(value) else {
                throw .parameter("the requested size must be a number")
            }
            requestedSize = Int(size)
        }
        if let value = named["sharedInfo"] {
            guard let info = value as? Data else { throw .parameter("the shared information must be Data") }
            sharedInfo = Array(info)
        }
    }
}

extension KeyBody {
    /// Returns the private half.
    func requirePrivate() throws(KeychainError) -> any PrivateKey {
        guard let privateKey else { throw .parameter("the operation requires a private key, not a public one") }
        return privateKey
    }
}

extension SecKeyAlgorithm {
    func known() throws(KeychainError) -> KeyAlgorithm {
        guard let known = KeyAlgorithm(rawValue: name) else { throw .parameter("the algorithm \(name) is unsupported") }
        return known
    }
}

extension NSData {
    /// The bytes, valid while the object is retained.
    var rawBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: length) }
}
