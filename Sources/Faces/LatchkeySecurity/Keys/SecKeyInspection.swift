// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// Returns the key's bytes: PKCS #1 for RSA; `04 ‖ X ‖ Y` for elliptic curves, followed by `‖ K`
/// for a private key.
///
/// - Parameters:
///   - key: the key.
///   - error: receives errSecUnimplemented if the key is not extractable (`kSecAttrIsExtractable`
///     is false).
@discardableResult
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> CFData?
{
    reporting(to: error) {
        guard let secret = try key.body.externalSecret() else { return NSData(data: Data(key.body.publicKey.external)) }
        return NSData(exposing: secret)
    }
}

/// Returns the key's attributes by their `kSecAttr…` names: class, type, size and allowed
/// operations. Keys in memory and public keys also have their bytes under `kSecValueData`. For a
/// private key in the keychain, only `SecKeyCopyExternalRepresentation` returns the bytes.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    guard var known = try? KeyAttributes.standard(key.body.publicKey, key.body.half) else { return nil }
    if let stored = try? key.body.storedAttributes() { known.merge(stored) { _, stored in stored } }
    let unnamed = key.body.privateKey as? UnnamedEnclaveKey
    var attributes: [String: Any] = [ItemDictionary.Key.itemClass: ItemClass.key.rawValue]
    for (attribute, value) in known {
        switch (attribute, value) {
        // Callers compare these attributes with the constants, and the constants are strings.
        case (.type, .number(let number)), (.keyClass, .number(let number)):
            attributes[attribute.rawValue] = "\(number)"
        case (.keySizeInBits, .number(let number)), (.effectiveKeySize, .number(let number)):
            attributes[attribute.rawValue] = NSNumber(value: number)
        case (_, .number(let number)): attributes[attribute.rawValue] = NSNumber(value: number != 0)
        case (_, .data(let bytes)): attributes[attribute.rawValue] = Data(bytes)
        case (_, .string(let text)): attributes[attribute.rawValue] = text
        default: break
        }
    }
    if let unnamed {
        // From now on the key stays in the keychain: the program can keep this.
        attributes[kSecAttrTokenOID as String] = Data(unnamed.representation)
    } else if !key.body.isPrivate || key.body.reference == nil {
        attributes[ItemDictionary.Key.data] = SecKeyCopyExternalRepresentation(key, nil)
    }
    return attributes as NSDictionary
}

/// Returns the public half of the pair; for a public key, an equal key.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    SecKey(.publicKey(key.body.publicKey))
}

/// Returns the length of the modulus, or of a field element, in bytes.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    key.body.publicKey.kind.blockLength
}

/// Returns whether the key supports the algorithm for the operation, without running it.
@discardableResult
public func SecKeyIsAlgorithmSupported(_ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm)
    -> Bool
{
    guard let known = KeyAlgorithm(rawValue: algorithm.name), let operation = KeyOperation(rawValue: operation.rawValue)
    else {
        return false
    }
    return known.isSupported(by: key.body.publicKey.kind, key.body.half, for: operation)
}

/// An operation with a key.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Signing, with a private key.
    case sign = 0
    /// Verifying, with a public key.
    case verify = 1
    /// Encryption, with a public key.
    case encrypt = 2
    /// Decryption, with a private key.
    case decrypt = 3
    /// Key agreement, with a private key.
    case keyExchange = 4
}

extension KeyBody {
    /// The attributes of the key's item; nil for a key in memory.
    fileprivate func storedAttributes() throws(KeychainError) -> [ItemAttribute: AttributeValue]? {
        guard let reference = reference ?? (privateKey as? UnnamedEnclaveKey)?.item else { return nil }
        // An inspection does not ask the person.
        var values = try authentication.values()
        values.interaction = .fail
        let query = ItemQuery(nil, synchronizable: .any, persistentReference: reference, authentication: values)
        let found = try KeychainClient.session().copyMatching(query, returning: .attributes).required()
        return found.records.first?.attributes.filter { attribute, _ in Self.shown.contains(attribute) }
    }

    private static let shown: Set<ItemAttribute> = [
        .applicationLabel, .applicationTag, .label, .isPermanent, .isPrivate, .isModifiable, .isSensitive,
        .wasAlwaysSensitive,
        .isExtractable,
        .wasNeverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover,
        .canVerifyRecover, .canWrap,
        .canUnwrap, .tokenIdentifier,
    ]

    /// Returns the bytes of the private half; nil for a public key.
    func externalSecret() throws(KeychainError) -> SharedSecret? {
        switch privateKey {
        case let key as SoftwareKey: try key.external()
        case let key as StoredKey: try key.external()
        case nil: nil
        default:
            throw KeychainError(
                .unimplemented, "the key is not extractable: it is in a Secure Enclave, and never leaves it")
        }
    }
}
