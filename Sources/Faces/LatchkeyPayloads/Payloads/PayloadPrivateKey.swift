// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import KeyServices
public import KeychainModel
public import Latchkey
internal import OpenSSLCrypto
public import SecretMemory

/// A key that opens payloads, or authenticates their sender.
///
/// With ``init(_:)`` it is a key of the keychain. The keychain performs the agreement: the private number does not
/// leave it.
///
/// ```swift
/// let stored = try keychain.generate(
///     P256AgreementKey.self, tag: "com.example.payloads", isExtractable: false)
/// let key = try PayloadPrivateKey(stored)
/// let payload = try PayloadBox.open(box, with: key)
/// ```
public struct PayloadPrivateKey: Sendable {
    private enum Storage: Sendable {
        case p256(P256AgreementKey)
        case x25519(SecretMemory.SharedSecret)
        /// The seed of the key.
        case xWing(SecretMemory.SharedSecret)
    }

    private let storage: Storage
    /// The public half.
    public let publicKey: PayloadPublicKey

    /// The algorithms.
    public var suite: PayloadSuite { publicKey.suite }

    private init(_ storage: Storage, _ publicKey: PayloadPublicKey) {
        (self.storage, self.publicKey) = (storage, publicKey)
    }

    /// A key of P-256, in memory or in a keychain.
    ///
    /// - Throws: `KeychainError` if the public half cannot be read.
    public init(_ key: P256AgreementKey) throws(KeychainError) {
        self.init(.p256(key), PayloadPublicKey(try key.publicKey))
    }

    /// Generates a key in memory.
    public static func generate(_ suite: PayloadSuite) throws(KeychainError) -> PayloadPrivateKey {
        switch suite {
        case .p256: try PayloadPrivateKey(P256AgreementKey())
        case .x25519, .xWing:
            try PayloadPrivateKey(suite, secret: SecretMemory.SharedSecret(.random(count: secretLength)))
        }
    }

    /// Creates a key from its ``secret``.
    ///
    /// - Parameters:
    ///   - suite: the algorithms of the key.
    ///   - secret: 32 bytes.
    /// - Throws: `errSecParam` for another length, and for P-256, because its keys are `P256AgreementKey`.
    public init(_ suite: PayloadSuite, secret: some SecretConvertible) throws(KeychainError) {
        let secret = secret.sharedSecret()
        guard suite != .p256 else {
            throw KeychainError(
                .param, "a private key of P-256 is not created from bytes alone",
                hint: "use P256AgreementKey(file:) or a key of the keychain")
        }
        guard secret.count == Self.secretLength else {
            throw .parameter("a private key of \(suite) has \(Self.secretLength) bytes, found \(secret.count)")
        }
        if suite == .x25519 {
            let publicKey = try crypto { () throws(OpenSSLError) in try X25519.publicKey(of: secret.copy()) }
            self.init(.x25519(secret), try PayloadPublicKey(.x25519, rawRepresentation: publicKey))
        } else {
            let publicKey = try Self.xWing(secret).publicKey
            self.init(.xWing(secret), try PayloadPublicKey(.xWing, rawRepresentation: publicKey.rawRepresentation))
        }
    }

    /// The 32 bytes of a key in memory, to store as the secret of an item.
    ///
    /// - Throws: `errSecUnimplemented` for a key of P-256: store it as a key instead.
    public var secret: SecretMemory.SharedSecret {
        get throws(KeychainError) {
            switch storage {
            case .x25519(let secret), .xWing(let secret): return secret
            case .p256:
                throw KeychainError(
                    .unimplemented, "a private key of P-256 is stored as a key", hint: "use Keychain.add(_:tag:)")
            }
        }
    }

    private static let secretLength = 32
}

// MARK: Agreement

extension PayloadPrivateKey {
    /// Returns the secret that this key and the other one agree on.
    ///
    /// - Parameter other: of the same suite. The suite must have Diffie-Hellman.
    func agreed(with other: PayloadPublicKey) throws(KeychainError) -> SecretMemory.SharedSecret {
        switch storage {
        case .p256(let key) where other.suite == .p256:
            let point = try PublicKey.point(other.rawRepresentation, on: P256Curve.self)
            return try key.handle.key.exchanged(with: point, .ecdh(.standard, derivation: nil))
        case .x25519(let secret) where other.suite == .x25519:
            return try crypto { () throws(OpenSSLError) in
                SecretMemory.SharedSecret(
                    try X25519.sharedSecret(secret.copy(), own: publicKey.bytes, peer: other.bytes))
            }
        default: throw .parameter("keys of \(suite) and \(other.suite) do not agree on a secret")
        }
    }

    /// Returns the shared secret that is encapsulated for this key of X-Wing; nil if the
    /// encapsulation is not one.
    func decapsulatedXWing(_ encapsulated: [UInt8]) throws(KeychainError) -> SecretMemory.SharedSecret? {
        guard case .xWing(let seed) = storage else { throw .parameter("the key is not one of X-Wing") }
        let key = try Self.xWing(seed)
        guard let shared = try? key.decapsulate(Data(encapsulated)) else { return nil }
        return shared.withUnsafeBytes { SecretMemory.SharedSecret(SecretBytes(copying: $0)) }
    }

    /// EXPOSE: only swift-crypto has ML-KEM; its copy of the key is not wiped.
    private static func xWing(_ seed: SecretMemory.SharedSecret) throws(KeychainError)
        -> XWingMLKEM768X25519.PrivateKey
    {
        let bytes = seed.withUnsafeBytes { Data($0) }
        guard let key = try? XWingMLKEM768X25519.PrivateKey(seedRepresentation: bytes, publicKey: nil) else {
            throw .parameter("the bytes are not a private key of X-Wing")
        }
        return key
    }

    static func x25519Agreement(_ secret: borrowing SecretBytes, with other: [UInt8]) throws(OpenSSLError)
        -> SecretBytes
    {
        try X25519.sharedSecret(secret, own: try X25519.publicKey(of: secret), peer: other)
    }
}
