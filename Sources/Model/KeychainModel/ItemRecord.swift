// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// One item, opened: what the rows of the store hold and what the calls return.
public struct ItemRecord: Sendable {
    public var identifier: ItemIdentifier
    public var itemClass: ItemClass
    public var protection: ProtectionClass
    public var accessGroup: AccessGroup
    public var isSynchronizable: Bool
    /// Whether this is only the memory of a deleted item, kept so that the deletion can be synchronised.
    public var isTombstone: Bool
    /// Seconds since 2001-01-01 00:00:00 UTC.
    public var created: Double
    /// Seconds since 2001-01-01 00:00:00 UTC; grows with every update.
    public var modified: Double
    /// Every attribute that is neither a field of this record nor secret.
    public var attributes: [ItemAttribute: AttributeValue]
    /// The flags of the access control the item was added with; nil where it has only a protection class.
    public var accessControlFlags: AccessControlFlags?
    /// The executable that added the item, so that a program's careless bulk delete stays within what it made itself.
    public var addedBy: String
    /// The secret half; nil where it was not asked for.
    public var secrets: ItemSecrets?

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

    public var persistentReference: PersistentReference {
        PersistentReference(itemClass, identifier)
    }

    /// Whether the data may be given out. A key says so by kSecAttrIsExtractable; what is there and is no plain yes is a no.
    public var isExtractable: Bool {
        guard itemClass == .key || itemClass == .identity else { return true }
        switch attributes[.isExtractable] {
        case nil: return true
        case .number(let flag)?: return flag != 0
        default: return false
        }
    }

    /// Whether the item, or the memory of its deletion, may be carried to another device. A ThisDeviceOnly item never is, whatever
    /// ``isSynchronizable`` says.
    public var canSynchronize: Bool { isSynchronizable && !protection.isThisDeviceOnly }

    /// The value of any attribute, those included that are fields of this record. Secrets, and what is unset, are nil.
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

    /// The value that counts in the primary key: an absent one is its kind's empty value.
    public func primaryKeyValue(of column: ItemSchema.Column) -> AttributeValue {
        self[column.attribute] ?? column.initial ?? .string("")
    }

    /// Fills in the defaults of the class's columns that are never unset.
    public mutating func completeDefaults() {
        for column in ItemSchema.of(itemClass).columns where !column.isSystemSet && attributes[column.attribute] == nil
        {
            attributes[column.attribute] = column.initial
        }
    }

    /// What remains of a deleted synchronised item: its primary key and its creation date.
    public func tombstone(at now: Double) -> ItemRecord {
        let kept = Set(ItemSchema.of(itemClass).primaryKey.map(\.attribute))
        var tombstone = self
        tombstone.isTombstone = true
        tombstone.modified = ItemRecord.date(now, after: modified)
        tombstone.attributes = attributes.filter { kept.contains($0.key) }
        tombstone.accessControlFlags = nil
        tombstone.secrets = ItemSecrets()
        return tombstone
    }

    /// `now`, or a millisecond after `earlier` where the clock has not moved on: modification dates grow strictly.
    public static func date(_ now: Double, after earlier: Double) -> Double {
        max(now, earlier + 0.001)
    }
}

/// The secret half of an item.
public struct ItemSecrets: Sendable, Equatable {
    /// `kSecValueData`; nil where the item has none, which differs from empty data.
    public var data: SharedSecret?
    /// The secret attributes of internet passwords.
    public var attributes: [ItemAttribute: SharedSecret]

    public init(data: SharedSecret? = nil, attributes: [ItemAttribute: SharedSecret] = [:]) {
        self.data = data
        self.attributes = attributes
    }
}
