// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The keys that `SecKeyCreateRandomKey` generates and stores.
public struct KeyGeneration: Sendable {
    public var kind: KeyKind
    /// The private half as an item, without its data.
    public var privateHalf: ItemAddition
    /// The public half as an item; nil if it is not stored.
    public var publicHalf: ItemAddition?

    public init(_ kind: KeyKind, privateHalf: ItemAddition, publicHalf: ItemAddition? = nil) {
        self.kind = kind
        self.privateHalf = privateHalf
        self.publicHalf = publicHalf
    }
}

/// A key that was generated and stored.
public struct GeneratedKey: Sendable {
    /// The items as they were stored, without data.
    public var privateHalf: ItemRecord
    public var publicHalf: ItemRecord?
    /// The public half's external representation.
    public var publicKey: [UInt8]

    public init(privateHalf: ItemRecord, publicHalf: ItemRecord?, publicKey: [UInt8]) {
        self.privateHalf = privateHalf
        self.publicHalf = publicHalf
        self.publicKey = publicKey
    }
}

/// The public information about a key in the keychain: whether it is the private or the public half, and the public
/// half of its pair.
public struct PublicKeyInfo: Sendable, Hashable {
    public var kind: KeyKind
    public var half: KeyHalf
    /// PKCS #1 `RSAPublicKey` in DER, or the point `04 ‖ X ‖ Y`.
    public var publicKey: [UInt8]

    public init(_ kind: KeyKind, half: KeyHalf, publicKey: [UInt8]) {
        self.kind = kind
        self.half = half
        self.publicKey = publicKey
    }
}

/// The result of a private-key operation.
public struct KeyOutput: Sendable {
    /// A signature, a plaintext, a shared secret, or the key itself.
    public var bytes: SharedSecret
    /// The access group of the key.
    public var accessGroup: AccessGroup

    public init(_ bytes: SharedSecret, from accessGroup: AccessGroup) {
        self.bytes = bytes
        self.accessGroup = accessGroup
    }
}
