// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Generates a key pair and returns the private half. `SecKeyCopyPublicKey` returns the public
/// half.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` (RSA, EC) and `kSecAttrKeySizeInBits` (512 to 8192 in steps of
///     8; 224, 256, 384, 521); attributes of both halves, and under `kSecPrivateKeyAttrs` and
///     `kSecPublicKeyAttrs` attributes of one. A half with `kSecAttrIsPermanent` is stored in the
///     keychain, or in that of `kSecUseKeychain`. RSA keys below 2048 bits are weak: the program's
///     logger (swift-log) gets a warning.
///   - error: receives errSecParam; errSecKeySizeNotAllowed; errSecUnimplemented for tokens; or a
///     status of `SecItemAdd`.
/// - Returns: nil on failure; then nothing is stored.
@discardableResult
public func SecKeyCreateRandomKey(_ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> SecKey?
{
    reporting(to: error) { SecKey(try generatedPair(parameters)) }
}

/// Generates a key pair, as `SecKeyCreateRandomKey` does.
///
/// - Returns: errSecSuccess, or the status of the failure.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    status {
        let pair = try generatedPair(parameters)
        publicKey?.pointee = SecKey(.publicKey(pair.publicKey))
        privateKey?.pointee = SecKey(pair)
    }
}

private func generatedPair(_ parameters: CFDictionary) throws -> KeyBody {
    let request = try KeyGenerationRequest(parsing: parameters)
    let keychain = request.keychain
    if request.kind.canBeGenerated, request.kind.isWeak { ProgramLog.current.warn(.weakKey(request.kind)) }
    if let privateHalf = request.privateHalf {
        let authentication = try CallAuthentication(privateHalf.authentication)
        guard privateHalf.isPermanent else {
            let key = try UnnamedEnclaveKey(
                creating: privateHalf.item,
                authentication: { () throws(KeychainError) in try authentication.values() },
                in: { () throws(KeychainError) in try keychain.session() })
            return .unnamed(key)
        }
        var generation = KeyGeneration(
            request.kind, privateHalf: privateHalf.item, publicHalf: request.publicHalf?.item)
        generation.privateHalf.authentication = try authentication.values()
        let made = try keychain.session().generateKey(generation)
        let info = PublicKeyInfo(request.kind, half: .privateKey, publicKey: made.publicKey)
        return try .stored(at: made.privateHalf.persistentReference, info, authentication.ofReturnedKeys, keychain)
    }
    let key = try SoftwareKey.generate(request.kind)
    if let publicHalf = request.publicHalf {
        try store(publicHalf, key.publicKey)
    }
    return .inMemory(key)
}

/// Stores a public half; its private half is in memory.
private func store(_ half: KeyGenerationRequest.Half, _ key: PublicKey) throws {
    var addition = half.item
    addition.authentication = try CallAuthentication(half.authentication).values()
    addition.attributes.merge(try KeyAttributes.standard(key, .publicKey)) { given, _ in given }
    addition.secrets = ItemSecrets(data: SharedSecret(copying: key.external))
    _ = try half.keychain.session().add(addition)
}

/// Returns a key in memory from its external representation: PKCS #1 for RSA; X9.63 for elliptic
/// curves, `04 ‖ X ‖ Y`, followed by `‖ K` for a private key. A public RSA key can also be a
/// `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7).
///
/// - Parameters:
///   - keyData: the key's bytes, as ``SecKeyCopyExternalRepresentation(_:_:)`` returns them.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`.
///   - error: receives errSecParam for data that is not such a key; errSecUnimplemented for
///     symmetric keys and unknown tokens; errSecItemNotFound for a key of a Secure Enclave that the
///     keychain does not have.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) {
        if let token = attributes["tkid"] { return try restoredKey(of: token, keyData, attributes) }
        let (type, half) = try KeyGenerationRequest.typeAndHalf(attributes)
        // A copy is needed because the caller's object may be an NSMutableData.
        let data = SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(start: keyData.bytes, count: keyData.length)))
        return try data.withUnsafeBytes { bytes in
            switch half {
            case .publicKey: SecKey(.publicKey(try PublicKey(imported: bytes, type: type)))
            case .privateKey: SecKey(.inMemory(try SoftwareKey(external: bytes, type: type)))
            }
        }
    }
}

/// Returns a key of a Secure Enclave by the bytes that `SecKeyCopyAttributes` has returned as `kSecAttrTokenOID`. If
/// the attributes lack them, the data has them.
private func restoredKey(of token: Any, _ data: CFData, _ attributes: CFDictionary) throws -> SecKey {
    guard token as? String == EnclaveKind.requested else {
        throw KeychainError(.unimplemented, "the only supported token is the Secure Enclave")
    }
    let bytes = attributes[kSecAttrTokenOID as String] as? Data ?? Data(bytes: data.bytes, count: data.length)
    let key = try UnnamedEnclaveKey(
        restoring: Array(bytes.prefix(1024)),
        authentication: { () throws(KeychainError) in Authentication() },
        in: { () throws(KeychainError) in try KeychainClient.session() })
    return SecKey(.unnamed(key))
}
