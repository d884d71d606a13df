// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import FoundationEssentials
internal import KeychainSessions
internal import KeyServices
public import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

/// Keys that never leave the TPM of the machine, in the form that CryptoKit has. CryptoKit's code
/// needs another import:
///
/// ```swift
/// import Crypto
/// import Latchkey
///
/// let key = try SecureEnclave.P256.Signing.PrivateKey()
/// let signature = try key.signature(for: message)
/// try key.dataRepresentation.write(to: url)
/// ```
///
/// ``Keychain`` creates a key that the program finds by a tag: `generate(…, inSecureEnclave: true)`.
public enum SecureEnclave {
    /// Whether keys can be created: the machine has a TPM 2.0, or the owner of the keychain allows
    /// keys in the memory of the system's latchkeyd.
    public static var isAvailable: Bool { kind != nil }

    /// The kind of enclave that holds new keys; nil if there is no enclave.
    public static var kind: EnclaveKind? { (try? KeychainClient.session().status())?.enclave }

    /// Keys on P-256, the only curve of a Secure Enclave.
    public enum P256 {
        /// Keys that sign with ECDSA.
        public enum Signing {}
        /// Keys that agree on a secret with ECDH.
        public enum KeyAgreement {}
    }
}

/// A private key of a ``SecureEnclave``: `P256.Signing.PrivateKey` or `P256.KeyAgreement.PrivateKey`.
public protocol SecureEnclaveKey: Sendable {
    /// - Throws: if the public half cannot be read.
    init(_ handle: SecureEnclaveHandle) throws

    /// The key behind this value.
    var handle: SecureEnclaveHandle { get }
}

/// The key behind a ``SecureEnclaveKey``. Only the initializers of these types create one.
public struct SecureEnclaveHandle: Sendable {
    let key: UnnamedEnclaveKey
}

extension SecureEnclaveKey {
    /// Creates a key. Without ``dataRepresentation``, it is deleted with the last copy of this value.
    ///
    /// - Parameters:
    ///   - protection: when the key can be used.
    ///   - accessControl: the authentication that each use requires of the person.
    ///   - authenticationContext: an `LAContext` for the person's authentication; nil if each use asks.
    /// - Throws: `errSecUnimplemented` if there is no Secure Enclave.
    public init(
        protection: ProtectionClass = .whenUnlockedThisDeviceOnly, accessControl: AccessControl = .nothing,
        authenticationContext: (any AuthenticationContextObject)? = nil
    ) throws {
        try self.init(.created(protection, accessControl.ofPrivateKey.flags, authenticationContext))
    }

    /// Creates a key, as ``init(protection:accessControl:authenticationContext:)`` does, with an access
    /// control in CryptoKit's form.
    ///
    /// - Parameters:
    ///   - accessControl: a `SecAccessControl`.
    ///   - authenticationContext: an `LAContext` for the person's authentication; nil if each use asks.
    /// - Throws: `errSecParam` for objects of other types, `errSecUnimplemented` if there is no
    ///   Secure Enclave.
    public init(
        accessControl: any AccessControlObject, authenticationContext: (any AuthenticationContextObject)? = nil
    ) throws {
        try self.init(.created(accessControl, authenticationContext))
    }

    /// The key that has these bytes as ``dataRepresentation``.
    ///
    /// - Parameters:
    ///   - dataRepresentation: the bytes.
    ///   - authenticationContext: an `LAContext` for the uses of the key.
    /// - Throws: `errSecParam` for other bytes; `errSecItemNotFound` if the keychain has no such key,
    ///   or it is one of another program.
    public init(
        dataRepresentation: Data, authenticationContext: (any AuthenticationContextObject)? = nil
    ) throws {
        try self.init(.restored(dataRepresentation, authenticationContext))
    }

    /// The bytes that let the program find the key again. They are no secret.
    public var dataRepresentation: Data { Data(handle.key.representation) }
}

extension SecureEnclave.P256.Signing {
    /// A private key that signs.
    public struct PrivateKey: SecureEnclaveKey {
        /// The key behind this value.
        public let handle: SecureEnclaveHandle
        /// The public half.
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// - Throws: if the public half cannot be read.
        public init(_ handle: SecureEnclaveHandle) throws {
            self.handle = handle
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: handle.key.publicKey.external)
        }

        /// Signs the SHA-256 of the data.
        public func signature(for data: some DataProtocol) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }

        /// Signs a digest.
        public func signature(for digest: some Digest) throws -> Crypto.P256.Signing.ECDSASignature {
            let raw = try Array(digest).withUnsafeBytes { bytes in
                try handle.key.signature(of: bytes, .ecdsa(.rfc4754, .digest(nil)))
            }
            return try Crypto.P256.Signing.ECDSASignature(rawRepresentation: raw)
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A private key that agrees on secrets.
    public struct PrivateKey: SecureEnclaveKey {
        /// The key behind this value.
        public let handle: SecureEnclaveHandle
        /// The public half.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// - Throws: if the public half cannot be read.
        public init(_ handle: SecureEnclaveHandle) throws {
            self.handle = handle
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: handle.key.publicKey.external)
        }

        /// Agrees on a secret with another key.
        public func sharedSecretFromKeyAgreement(
            with other: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> EnclaveSharedSecret {
            let point = Array(other.x963Representation)
            return EnclaveSharedSecret(try point.withUnsafeBytes { try handle.key.use(.agree, on: $0) })
        }
    }
}

extension SecureEnclaveHandle {
    fileprivate static func created(
        _ protection: ProtectionClass, _ flags: AccessControlFlags?, _ context: (any AuthenticationContextObject)?
    ) throws(KeychainError) -> SecureEnclaveHandle {
        let half = ItemAddition(.key, protection: protection, accessControlFlags: flags)
        return SecureEnclaveHandle(
            key: try UnnamedEnclaveKey(creating: half, authentication: try authentication(context), in: open))
    }

    fileprivate static func created(
        _ accessControl: any AccessControlObject, _ context: (any AuthenticationContextObject)?
    ) throws(KeychainError) -> SecureEnclaveHandle {
        guard let source = accessControl as? any AccessControlSource, let protection = source.protectionClass else {
            throw .parameter("accessControl must be a SecAccessControl, found \(type(of: accessControl))")
        }
        return try created(protection, source.accessControlFlags, context)
    }

    fileprivate static func restored(
        _ representation: Data, _ context: (any AuthenticationContextObject)?
    ) throws(KeychainError) -> SecureEnclaveHandle {
        SecureEnclaveHandle(
            key: try UnnamedEnclaveKey(
                restoring: Array(representation.prefix(1024)), authentication: try authentication(context), in: open))
    }

    private static let open: @Sendable () throws(KeychainError) -> KeychainSession = { () throws(KeychainError) in
        try KeychainClient.session()
    }

    private static func authentication(
        _ context: (any AuthenticationContextObject)?
    ) throws(KeychainError) -> @Sendable () throws(KeychainError) -> Authentication {
        guard let context else { return { () throws(KeychainError) in Authentication() } }
        guard let source = context as? any AuthenticationContextSource else {
            throw .parameter("authenticationContext must be an LAContext, found \(type(of: context))")
        }
        return { () throws(KeychainError) in try source.authentication() }
    }
}
