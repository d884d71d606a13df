// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeyServices
public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
public import SecretMemory

/// The private half of a pair: ``RSAPrivateKey``, ``SigningKey``, ``AgreementKey``. In memory, or in a keychain, which uses it where it lies.
public protocol KeychainKey: Sendable {
    /// What kinds of keys the type stands for.
    static func supports(_ kind: KeyKind) -> Bool

    /// - Throws: `errSecParam` for a key of another type.
    init(_ key: KeyHandle) throws(KeychainError)

    var handle: KeyHandle { get }
}

/// A private key behind a type. Only ``Keychain`` and the types of keys make one.
public struct KeyHandle: Sendable {
    let key: any PrivateKey

    init(_ key: any PrivateKey) {
        self.key = key
    }

    /// Whether the key lies in a keychain.
    public var isStored: Bool { key is StoredKey }

    /// The external representation (PKCS #1, X9.63).
    ///
    /// - Throws: `errSecUnimplemented` where the key may not be taken out of its keychain.
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

    /// A key in memory from a file: PEM, DER, OpenSSH's.
    static func read(_ file: some SecretConvertible, passphrase: String?) throws(KeychainError) -> KeyHandle {
        let phrase = passphrase.map { $0.sharedSecret() }
        let entries = try file.sharedSecret().withUnsafeBytes { (bytes) throws(KeychainError) in
            try KeyFile.read(bytes, passphrase: phrase)
        }
        guard entries.count == 1, case .privateKey(let key)? = entries.first else {
            throw KeychainError(.param, "the file holds no private key, or several")
        }
        return KeyHandle(key)
    }

    /// The key as PKCS #8 in PEM, encrypted where there is a passphrase.
    func pem(passphrase: String?) throws(KeychainError) -> SharedSecret {
        let type = key.kind.type
        let copy = try external().withUnsafeBytes { (bytes) throws(KeychainError) in
            try SoftwareKey(external: bytes, type: type, isTrusted: true)
        }
        return try KeyFile.write(.privateKey(copy), as: .pkcs8, passphrase: passphrase.map { $0.sharedSecret() })
    }
}

extension KeychainKey {
    /// A key in memory from a file: PEM or DER of PKCS #8, PKCS #1 or SEC 1, or OpenSSH's.
    ///
    /// - Throws: `errSecParam` for anything else, and for a key of another type; `errSecAuthFailed` for a missing or wrong passphrase.
    public init(file: some SecretConvertible, passphrase: String? = nil) throws(KeychainError) {
        let handle = try KeyHandle.read(file, passphrase: passphrase)
        try self.init(handle)
    }

    /// The handle, where it is one of the type's.
    static func requireSupported(_ handle: KeyHandle) throws(KeychainError) -> KeyHandle {
        guard supports(handle.key.kind) else {
            throw KeychainError(.param, "the key is of the kind \(handle.key.kind), and this type is for others")
        }
        return handle
    }

    /// Whether the key lies in a keychain.
    public var isStored: Bool { handle.isStored }

    /// The key as PKCS #8 in PEM, encrypted under the passphrase where there is one.
    ///
    /// - Throws: `errSecUnimplemented` where the key may not be taken out of its keychain.
    public func pem(passphrase: String? = nil) throws(KeychainError) -> SharedSecret {
        try handle.pem(passphrase: passphrase)
    }

    /// What `SecKeyCopyExternalRepresentation` gives: PKCS #1 for RSA, X9.63 for elliptic curves.
    public func externalRepresentation() throws(KeychainError) -> SharedSecret { try handle.external() }
}

/// Lends bytes that may lie in several regions.
func withContiguousBytes<Result>(
    _ data: some DataProtocol, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result
) throws(KeychainError) -> Result {
    let bytes = SharedSecret(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
    return try bytes.withUnsafeBytes(body)
}
