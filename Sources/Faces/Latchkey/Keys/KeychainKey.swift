// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeyServices
public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
public import SecretMemory

/// The private half of a key pair: ``RSAPrivateKey``, ``SigningKey``, ``AgreementKey``. It is in
/// memory, or in a keychain that performs its operations.
public protocol KeychainKey: Sendable {
    /// Returns whether the type supports keys of this kind.
    static func supports(_ kind: KeyKind) -> Bool

    /// - Throws: `errSecParam` for a key of another type.
    init(_ key: KeyHandle) throws(KeychainError)

    /// The key behind this value.
    var handle: KeyHandle { get }
}

/// A private key of any kind. Only ``Keychain`` and the key types create one.
public struct KeyHandle: Sendable {
    package let key: any PrivateKey

    init(_ key: any PrivateKey) {
        self.key = key
    }

    /// Whether the key is in a keychain.
    public var isStored: Bool { key is StoredKey }

    /// Returns the external representation (PKCS #1, X9.63).
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    func external() throws(KeychainError) -> SharedSecret {
        switch key {
        case let key as SoftwareKey: return try key.external()
        case let key as StoredKey: return try key.external()
        default: throw KeychainError(.unimplemented)
        }
    }

    func signature(of message: some DataProtocol, _ algorithm: KeyAlgorithm) throws(KeychainError) -> Data {
        Data(
            try withContiguousBytes(message) { (bytes) throws(KeychainError) in try key.signature(of: bytes, algorithm)
            })
    }

    func decrypted(_ ciphertext: some DataProtocol, _ algorithm: KeyAlgorithm) throws(KeychainError) -> SharedSecret {
        try withContiguousBytes(ciphertext) { (bytes) throws(KeychainError) in try key.decrypted(bytes, algorithm) }
    }

    func publicKey() throws(KeychainError) -> PublicKey { try key.publicKey }

    /// Reads a key into memory from a file: PEM, DER or OpenSSH's format.
    static func read(_ file: some SecretConvertible, passphrase: String?) throws(KeychainError) -> KeyHandle {
        let phrase = passphrase.map { $0.sharedSecret() }
        let entries = try file.sharedSecret().withUnsafeBytes { (bytes) throws(KeychainError) in
            try KeyFile.read(bytes, passphrase: phrase)
        }
        guard entries.count == 1, case .privateKey(let key)? = entries.first else {
            throw KeychainError(.param, "the file must hold exactly one private key")
        }
        return KeyHandle(key)
    }

    /// Returns the key as PKCS #8 in PEM, encrypted if there is a passphrase.
    func pem(passphrase: String?) throws(KeychainError) -> SharedSecret {
        let type = key.kind.type
        let copy = try external().withUnsafeBytes { (bytes) throws(KeychainError) in
            try SoftwareKey(external: bytes, type: type, isTrusted: true)
        }
        return try KeyFile.write(.privateKey(copy), as: .pkcs8, passphrase: passphrase.map { $0.sharedSecret() })
    }
}

extension KeychainKey {
    /// Reads a key into memory from a file: PKCS #8, PKCS #1 or SEC 1 in PEM or DER, or OpenSSH's
    /// format.
    ///
    /// - Throws: `errSecParam` for other data and for a key of another type; `errSecAuthFailed` for
    ///   a missing or wrong passphrase.
    public init(file: some SecretConvertible, passphrase: String? = nil) throws(KeychainError) {
        let handle = try KeyHandle.read(file, passphrase: passphrase)
        try self.init(handle)
    }

    /// Returns the handle if the type supports its kind of key.
    static func requireSupported(_ handle: KeyHandle) throws(KeychainError) -> KeyHandle {
        guard supports(handle.key.kind) else {
            throw KeychainError(.param, "the type does not support keys of the kind \(handle.key.kind)")
        }
        return handle
    }

    /// Whether the key is in a keychain.
    public var isStored: Bool { handle.isStored }

    /// Returns the key as PKCS #8 in PEM, encrypted with the passphrase if there is one.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public func pem(passphrase: String? = nil) throws(KeychainError) -> SharedSecret {
        try handle.pem(passphrase: passphrase)
    }

    /// Returns the result of `SecKeyCopyExternalRepresentation`: PKCS #1 for RSA, X9.63 for
    /// elliptic curves.
    public func externalRepresentation() throws(KeychainError) -> SharedSecret { try handle.external() }
}

/// Lends bytes as one contiguous buffer; the data may consist of several regions.
func withContiguousBytes<Result>(
    _ data: some DataProtocol, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result
) throws(KeychainError) -> Result {
    let bytes = SharedSecret(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
    return try bytes.withUnsafeBytes(body)
}
