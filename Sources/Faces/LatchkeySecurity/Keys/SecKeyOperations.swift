// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeyServices
internal import KeychainModel
internal import SecretMemory

/// A signature by a private key.
///
/// ```swift
/// let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)
/// ```
///
/// - Parameters:
///   - dataToSign: the message, or for `…Digest…` the digest.
///   - error: receives errSecParam where the key cannot do it or a digest has the wrong length; for a key in the keychain also
///     errSecInteractionNotAllowed, errSecItemNotFound, errSecKeyUsageIncorrect.
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

/// Whether the signature is that of the other half of the pair.
///
/// - Parameter error: receives errSecVerifyFailed where it is not; errSecParam where the key cannot do it or a digest has the wrong length.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isSigned = reporting(to: error) {
        let known = try algorithm.known()
        // A private RSA key verifies as its public half does; that of a curve is refused, as SecKeyIsAlgorithmSupported says.
        guard known.isSupported(by: key.body.publicKey.kind, key.body.half, for: .verify) else {
            throw KeychainError.parameter("the key cannot verify signatures of \(algorithm.name)")
        }
        guard try key.body.publicKey.isSignature(signature.rawBytes, of: signedData.rawBytes, known) else {
            throw KeychainError(.verifyFailed)
        }
        return true
    }
    return isSigned ?? false
}

/// What only the private half can decrypt.
///
/// - Parameter error: receives errSecParam where the key cannot do it, or the data is too long for a block.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        guard !key.body.isPrivate else {
            throw KeychainError.parameter("a public key encrypts, and this is a private one")
        }
        let ciphertext = try key.body.publicKey.encrypted(plaintext.rawBytes, try algorithm.known())
        return NSData(bytes: ciphertext, length: ciphertext.count)
    }
}

/// What was encrypted for a private key.
///
/// - Parameter error: receives errSecParam, whatever is wrong with the ciphertext; for a key in the keychain also what `SecKeyCreateSignature` does.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) {
        NSData(exposing: try key.body.requirePrivate().decrypted(ciphertext.rawBytes, try algorithm.known()))
    }
}

/// What a private key and somebody else's public key agree on.
///
/// - Parameters:
///   - parameters: for the algorithms with a derivation `SecKeyKeyExchangeParameter.requestedSize`, and `.sharedInfo` where both sides have one.
///   - error: receives errSecParam where the keys do not go together, or a parameter is missing or of the wrong type.
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

    public var rawValue: CFString { name as NSString }

    public init(rawValue: CFString) {
        name = rawValue as String
    }

    /// How many bytes are wanted: a number.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// What both sides know beside the keys: Data.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

extension ExchangeParameters {
    fileprivate init(parsing dictionary: CFDictionary) throws(KeychainError) {
        self.init()
        var named: [String: Any] = [:]
        for (key, value) in dictionary {
            // `[SecKeyKeyExchangeParameter: Any]` arrives with its keys as they are.
            if let name = key as? String ?? (key as? SecKeyKeyExchangeParameter)?.name { named[name] = value }
        }
        if let value = named["requestedSize"] {
            guard ValueConversion.boolean(value) == nil, let size = ValueConversion.integer(value) else {
                throw .parameter("the requested size is no number")
            }
            requestedSize = Int(size)
        }
        if let value = named["sharedInfo"] {
            guard let info = value as? Data else { throw .parameter("the shared information is not Data") }
            sharedInfo = Array(info)
        }
    }
}

extension KeyBody {
    /// The private half.
    func requirePrivate() throws(KeychainError) -> any PrivateKey {
        guard let privateKey else { throw .parameter("a private key is needed, and this is a public one") }
        return privateKey
    }
}

extension SecKeyAlgorithm {
    func known() throws(KeychainError) -> KeyAlgorithm {
        guard let known = KeyAlgorithm(rawValue: name) else { throw .parameter("the algorithm \(name) is not served") }
        return known
    }
}

extension NSData {
    /// The bytes, for as long as the object is held.
    var rawBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: length) }
}
