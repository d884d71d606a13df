// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The identifier of an item, which its store has chosen and which never changes: 1 to 32 bytes.
public struct SecretItemID: Hashable, Sendable {
    public let bytes: [UInt8]

    /// Returns nil for no bytes, and for more than ``maxLength``.
    public init?(_ bytes: [UInt8]) {
        guard (1...Self.maxLength).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    public static let maxLength = 32
}

/// An item in its collection.
public struct ItemReference: Hashable, Sendable {
    public let collection: CollectionName
    public let item: SecretItemID

    public init(_ collection: CollectionName, _ item: SecretItemID) {
        (self.collection, self.item) = (collection, item)
    }
}

/// A collection as it is now. Times are seconds since 1970.
public struct SecretCollection: Hashable, Sendable {
    public let name: CollectionName
    public var label: String
    public var isLocked: Bool
    public var created: UInt64
    public var modified: UInt64

    public init(_ name: CollectionName, label: String, isLocked: Bool, created: UInt64, modified: UInt64) {
        self.name = name
        self.label = label
        self.isLocked = isLocked
        self.created = created
        self.modified = modified
    }
}

/// An item as it is now, without its secret. Times are seconds since 1970.
public struct SecretItem: Hashable, Sendable {
    public let reference: ItemReference
    /// Empty while the item is locked.
    public var label: String
    /// Empty while the item is locked.
    public var attributes: SecretAttributes
    public var isLocked: Bool
    public var created: UInt64
    public var modified: UInt64
    /// The programs that have stored the item; none while the item is locked, and if they are not known.
    public var creators: [ProgramPath]

    public init(
        _ reference: ItemReference, label: String, attributes: SecretAttributes, isLocked: Bool, created: UInt64,
        modified: UInt64, creators: [ProgramPath] = []
    ) {
        self.reference = reference
        self.label = label
        self.attributes = attributes
        self.isLocked = isLocked
        self.created = created
        self.modified = modified
        self.creators = creators
    }
}

/// A secret with the type that its client gave it.
public struct SecretValue: Hashable, Sendable {
    public let bytes: SharedSecret
    /// For example `text/plain; charset=utf8`.
    public let contentType: String

    public init(_ bytes: SharedSecret, contentType: String) { (self.bytes, self.contentType) = (bytes, contentType) }

    public func hash(into hasher: inout Hasher) { hasher.combine(contentType) }
}

/// An item to add.
public struct NewSecretItem: Hashable, Sendable {
    public var label: String
    public var attributes: SecretAttributes
    public var secret: SecretValue
    /// The program that stores it; nil if it is not known.
    public var creator: ProgramPath?

    public init(label: String, attributes: SecretAttributes, secret: SecretValue, creator: ProgramPath? = nil) {
        self.label = label
        self.attributes = attributes
        self.secret = secret
        self.creator = creator
    }
}

/// The changes of an item; what is nil stays.
public struct SecretItemUpdate: Hashable, Sendable {
    public var label: String?
    public var attributes: SecretAttributes?
    public var secret: SecretValue?

    public init(label: String? = nil, attributes: SecretAttributes? = nil, secret: SecretValue? = nil) {
        self.label = label
        self.attributes = attributes
        self.secret = secret
    }
}

/// An item that a search has found.
public struct FoundItem: Hashable, Sendable {
    public let reference: ItemReference
    public let isLocked: Bool

    public init(_ reference: ItemReference, isLocked: Bool) { (self.reference, self.isLocked) = (reference, isLocked) }
}

/// The result of an addition.
public struct AddedItem: Hashable, Sendable {
    public let reference: ItemReference
    /// Whether the item existed, and has new content.
    public let isReplacement: Bool

    public init(_ reference: ItemReference, isReplacement: Bool) {
        (self.reference, self.isReplacement) = (reference, isReplacement)
    }
}
