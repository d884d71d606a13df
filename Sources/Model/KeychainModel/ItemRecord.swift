// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// The decoded form of an item: the contents of its row, and the result of requests.
public struct ItemRecord: Sendable {
    /// The identifier. It never changes.
    public var identifier: ItemIdentifier
    /// The class.
    public var itemClass: ItemClass
    /// When the item can be opened.
    public var protection: ProtectionClass
    /// The access group.
    public var accessGroup: AccessGroup
    /// Whether the item is shared with the user's other devices.
    public var isSynchronizable: Bool
    /// Whether this records a deleted item, so that the deletion can be synchronized.
    public var isTombstone: Bool
    /// Seconds since 2001-01-01 00:00:00 UTC.
    public var created: Double
    /// Seconds since 2001-01-01 00:00:00 UTC; increases with every update.
    public var modified: Double
    /// Every attribute that is neither a field of this record nor secret.
    public var attributes: [ItemAttribute: AttributeValue]
    /// The flags of the access control that the item was added with; nil if it has only a
    /// protection class.
    public var accessControlFlags: AccessControlFlags?
    /// The executable that added the item. It limits a program's bulk delete to the items that the
    /// program added.
    public var addedBy: String
    /// The secret half; nil if it was not requested.
    public var secrets: ItemSecrets?

    /// The external form of the public half of a private key with constraints in its access control, so that it is
    /// known without the person. Only the service sets and uses it.
    public var publicKey: [UInt8]?

    /// The lookup attributes that a client of the Secret Service has stored; nil for an item with attributes that only
    /// programs have set, see `lookupAttributes`. Only of passwords.
    public var storedLookup: LookupAttributes?

    /// The content type that a client of the Secret Service states for the data. Only of passwords.
    public var contentType: ContentType?

    /// The constraints that must be satisfied before the secrets can be read. It is nil in a record
    /// that a caller creates, for an item without constraints, and if they were satisfied.
    public var needsAuthentication: AccessConstraints?

    /// Creates a record; dates are seconds since 2001-01-01 00:00:00 UTC.
    public init(
        identifier: ItemIdentifier, itemClass: ItemClass, protection: ProtectionClass, accessGroup: AccessGroup,
        isSynchronizable: Bool = false, isTombstone: Bool = false, created: Double, modified: Double,
        attributes: [ItemAttribute: AttributeValue] = [:], accessControlFlags: AccessControlFlags? = nil,
        addedBy: String,
        secrets: ItemSecrets? = nil
    ) {
        self.identifier = identifier
        self.itemClass = itemClass
        self.protection = protection
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
        self.isTombstone = isTombstone
        self.created = created
        self.modified = modified
        self.attributes = attributes
        self.accessControlFlags = accessControlFlags
        self.addedBy = addedBy
        self.secrets = secrets
    }

    /// The reference that finds this item again.
    public var persistentReference: PersistentReference {
        PersistentReference(itemClass, identifier)
    }

    /// Whether the data may be returned. A key's kSecAttrIsExtractable must be unset or a number
    /// other than 0, it must not be held by a token, and its access control must not restrict it to
    /// the use of the key.
    public var isExtractable: Bool {
        guard itemClass == .key || itemClass == .identity else { return true }
        guard !isTokenKey else { return false }
        if accessControlFlags?.contains(.privateKeyUsage) == true { return false }
        switch attributes[.isExtractable] {
        case nil: return true
        case .number(let flag)?: return flag != 0
        default: return false
        }
    }

    /// Whether the item, or its tombstone, may be synchronized to another device. A ThisDeviceOnly item never is, even
    /// if ``isSynchronizable`` is true.
    public var canSynchronize: Bool { isSynchronizable && !protection.isThisDeviceOnly }

    /// The value of an attribute, including those that are fields of this record; nil for secret
    /// and unset attributes.
    public subscript(attribute: ItemAttribute) -> AttributeValue? {
        switch attribute {
        case .creationDate: .date(created)
        case .modificationDate: .date(modified)
        case .accessGroup: .string(accessGroup.name)
        case .accessible: .string(protection.rawValue)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        case .tombstone: .number(isTombstone ? 1 : 0)
        case .multiUser: .data([])
        default: attributes[attribute]
        }
    }

    /// Sets the missing attributes of the columns that have a default.
    public mutating func completeDefaults() {
        for column in ItemSchema.of(itemClass).columns where !column.isSystemSet && attributes[column.attribute] == nil
        {
            attributes[column.attribute] = column.initial
        }
    }

    /// Returns the tombstone of a deleted synchronized item: its primary key and its creation date.
    public func tombstone(at now: Double) -> ItemRecord {
        let kept = Set(ItemSchema.of(itemClass).primaryKey.map(\.attribute))
        var tombstone = self
        tombstone.isTombstone = true
        tombstone.modified = ItemRecord.date(now, after: modified)
        tombstone.attributes = attributes.filter { kept.contains($0.key) }
        tombstone.accessControlFlags = nil
        tombstone.publicKey = nil
        (tombstone.storedLookup, tombstone.contentType) = (nil, nil)
        tombstone.secrets = ItemSecrets()
        return tombstone
    }

    /// Returns `now`, or a millisecond after `earlier` if the clock has not advanced, so that
    /// modification dates strictly increase.
    public static func date(_ now: Double, after earlier: Double) -> Double {
        max(now, earlier + 0.001)
    }
}

/// The secret half of an item.
public struct ItemSecrets: Sendable, Equatable {
    /// `kSecValueData`; nil if the item has no data, as opposed to empty data.
    public var data: SharedSecret?
    /// The secret attributes of internet passwords.
    public var attributes: [ItemAttribute: SharedSecret]

    /// Creates the secret half of an item.
    public init(data: SharedSecret? = nil, attributes: [ItemAttribute: SharedSecret] = [:]) {
        self.data = data
        self.attributes = attributes
    }
}
