// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The identifier of an item: 1 to 32 bytes. Its store has chosen it, and it never changes.
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

/// An item as it is now, without its secret.
public struct SecretItem: Hashable, Sendable {
    public let reference: ItemReference
    public let isLocked: Bool
    /// nil while the item is locked, unless it is known from the time when it was open.
    public var metadata: SecretItemMetadata?
    /// The programs that have stored the item; none while the item is locked, and if they are not known.
    public let creators: [ProgramPath]

    public init(_ reference: ItemReference, _ metadata: SecretItemMetadata, creators: [ProgramPath] = []) {
        (self.reference, self.metadata, self.creators) = (reference, metadata, creators)
        isLocked = false
    }

    /// Creates a locked item. The store shows nothing of it.
    public init(locked reference: ItemReference) {
        self.reference = reference
        (isLocked, creators) = (true, [])
    }

    public var label: String? { metadata?.label }
    public var attributes: SecretAttributes? { metadata?.attributes }
}

/// The label, the attributes and the times of an item. Times are seconds since 1970.
public struct SecretItemMetadata: Hashable, Sendable {
    public var label: String
    public var attributes: SecretAttributes
    public var created: UInt64
    public var modified: UInt64

    public init(label: String, attributes: SecretAttributes, created: UInt64, modified: UInt64) {
        self.label = label
        self.attributes = attributes
        self.created = created
        self.modified = modified
    }

    /// The length of its texts in bytes.
    var length: Int {
        attributes.pairs.reduce(label.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
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

/// The changes of an item; a property that is nil stays.
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
