// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

/// A cryptographic key, or one half of a key pair. It is in memory, or in the keychain, where the
/// service uses it.
///
/// Keys are created by the `SecKeyCreate…` functions and by the keychain, not with an initializer.
/// Immutable. Two keys are equal if they are the same half of the same pair.
///
/// ```swift
/// let attributes =
///     [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048] as CFDictionary
/// guard let key = SecKeyCreateRandomKey(attributes, &error) else {
///     throw error!.takeRetainedValue() as Error
/// }
/// ```
public final class SecKey: NSObject, Sendable {
    /// A ``KeyBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ body: KeyBody) {
        content = KeyBox(body)
        super.init()
    }

    var body: KeyBody { unsafeDowncast(content, to: KeyBox.self).body }

    /// Whether the other object stands for the same content.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = (object as? SecKey)?.body else { return false }
        return body.isPrivate == other.isPrivate && body.publicKey.kind == other.publicKey.kind
            && body.publicKey.external == other.publicKey.external
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(body.isPrivate)
        hasher.combine(body.publicKey.external)
        return hasher.finalize()
    }

    /// The kind and the half of the key, such as `<SecKey: RSA-2048, private, in the keychain>`.
    public override var description: String {
        let location = body.reference == nil ? "in memory" : "in the keychain"
        return "<SecKey: \(body.publicKey.kind), \(body.isPrivate ? "private" : "public"), \(location)>"
    }
}

/// The content of a `SecKey`.
struct KeyBody: Sendable {
    let publicKey: PublicKey
    /// nil for a public key.
    let privateKey: (any PrivateKey)?
    /// The location of the key in the keychain; nil for a key in memory.
    let reference: PersistentReference?
    /// How each use of a key in the keychain satisfies its access control.
    var authentication = CallAuthentication.asking

    var isPrivate: Bool { privateKey != nil }
    var half: KeyHalf { isPrivate ? .privateKey : .publicKey }

    static func publicKey(_ key: PublicKey, at reference: PersistentReference? = nil) -> KeyBody {
        KeyBody(publicKey: key, privateKey: nil, reference: reference)
    }

    /// A key of a Secure Enclave that searches do not find.
    static func unnamed(_ key: UnnamedEnclaveKey) -> KeyBody {
        KeyBody(publicKey: key.publicKey, privateKey: key, reference: nil)
    }

    static func inMemory(_ key: SoftwareKey) -> KeyBody {
        KeyBody(publicKey: key.publicKey, privateKey: key, reference: nil)
    }

    /// Returns the key that a persistent reference names.
    static func stored(
        at reference: PersistentReference, _ authentication: CallAuthentication = .asking,
        _ keychains: ChosenKeychains = .searchList
    ) throws(KeychainError) -> KeyBody {
        try stored(at: reference, keychains.session().publicKey(of: reference), authentication, keychains)
    }

    /// Returns the private key of an identity.
    static func stored(
        _ identity: IdentityRecord, _ authentication: CallAuthentication, _ keychains: ChosenKeychains = .searchList
    ) throws(KeychainError) -> KeyBody {
        let reference = identity.key.persistentReference
        // Without a public key, the item does not hold a usable key: this throws the reason.
        guard let publicKey = identity.publicKey else {
            return try stored(at: reference, authentication, keychains)
        }
        return try stored(at: reference, publicKey, authentication, keychains)
    }

    static func stored(
        at reference: PersistentReference, _ info: PublicKeyInfo, _ authentication: CallAuthentication,
        _ keychains: ChosenKeychains
    ) throws(KeychainError) -> KeyBody {
        let key = try PublicKey.of(info)
        switch info.half {
        case .publicKey: return publicKey(key, at: reference)
        case .privateKey:
            let stored = StoredKey(
                reference, publicKey: key,
                authentication: { () throws(KeychainError) in try authentication.values() },
                in: { () throws(KeychainError) in try keychains.session() })
            return KeyBody(
                publicKey: key, privateKey: stored, reference: reference, authentication: authentication)
        }
    }
}

/// Holds a ``KeyBody``, because the public type cannot name it.
final class KeyBox: Sendable {
    let body: KeyBody
    init(_ body: KeyBody) { self.body = body }
}

extension SecKey: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.key.rawValue }
}

/// Returns the type identifier of `SecKey`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID {
    SecKey.typeID
}
