// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// What `SecKeyCreateRandomKey` is asked to make and to keep.
public struct KeyGeneration: Sendable {
    public var kind: KeyKind
    /// The private half as an item, without its data.
    public var privateHalf: ItemAddition
    /// The public half as an item; nil where it is not kept.
    public var publicHalf: ItemAddition?

    public init(_ kind: KeyKind, privateHalf: ItemAddition, publicHalf: ItemAddition? = nil) {
        self.kind = kind
        self.privateHalf = privateHalf
        self.publicHalf = publicHalf
    }
}

/// A key that was generated and kept.
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

/// What everybody may know of a key in the keychain: which half it is, and the public half of its pair.
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

/// What a private key in the keychain was asked for.
public struct KeyOutput: Sendable {
    /// A signature, what was encrypted, what was agreed on, or the key itself.
    public var bytes: SharedSecret
    /// The group that the key lies in.
    public var accessGroup: AccessGroup

    public init(_ bytes: SharedSecret, from accessGroup: AccessGroup) {
        self.bytes = bytes
        self.accessGroup = accessGroup
    }
}
