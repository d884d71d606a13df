// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// What `SecItemAdd` is asked to store.
public struct ItemAddition: Sendable {
    public var itemClass: ItemClass
    /// Every attribute given that is neither a field below nor secret.
    public var attributes: [ItemAttribute: AttributeValue]
    public var secrets: ItemSecrets
    /// The access group by name; nil stands for the caller's first.
    public var accessGroup: String?
    /// nil stands for the class's usual protection.
    public var protection: ProtectionClass?
    /// The access control's flags, where one was given; its protection class is in `protection`.
    public var accessControlFlags: AccessControlFlags?
    public var isSynchronizable: Bool

    public init(
        _ itemClass: ItemClass, attributes: [ItemAttribute: AttributeValue] = [:], secrets: ItemSecrets = ItemSecrets(),
        accessGroup: String? = nil, protection: ProtectionClass? = nil, accessControlFlags: AccessControlFlags? = nil,
        isSynchronizable: Bool = false
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.secrets = secrets
        self.accessGroup = accessGroup
        self.protection = protection
        self.accessControlFlags = accessControlFlags
        self.isSynchronizable = isSynchronizable
    }
}

/// An identity to be stored: a certificate and the private key that belongs to it.
public struct IdentityAddition: Sendable {
    public var certificate: ItemAddition
    public var key: ItemAddition

    /// How many are stored in one transaction, at most: a frame of the wire protocol carries 256 secrets, and each identity has two.
    public static let maxCount = 100

    public init(certificate: ItemAddition, key: ItemAddition) {
        self.certificate = certificate
        self.key = key
    }

    /// - Throws: errSecParam for more than ``maxCount``.
    public static func checkCount(_ identities: [IdentityAddition]) throws(KeychainError) {
        guard identities.count <= maxCount else {
            throw .parameter("\(identities.count) identities were given; at most \(maxCount) are added at a time")
        }
    }
}

/// What `SecItemCopyMatching`, `SecItemUpdate` and `SecItemDelete` look for: all conditions hold at once.
public struct ItemQuery: Sendable {
    /// nil only beside a persistent reference, which names the class.
    public var itemClass: ItemClass?
    /// Attributes that must have these values.
    public var attributes: [ItemAttribute: AttributeValue]
    /// The access group by name; nil stands for all of the caller's.
    public var accessGroup: String?
    public var synchronizable: SynchronizableScope
    public var persistentReference: PersistentReference?
    /// How many results; nil stands for the call's own default (one for copying, all for update and delete).
    public var limit: MatchLimit?
    public var match: MatchOptions
    /// Whether deleted synchronised items are seen (kSecUseTombstones).
    public var includesTombstones: Bool

    public init(
        _ itemClass: ItemClass?, attributes: [ItemAttribute: AttributeValue] = [:], accessGroup: String? = nil,
        synchronizable: SynchronizableScope = .local, persistentReference: PersistentReference? = nil,
        limit: MatchLimit? = nil,
        match: MatchOptions = MatchOptions(), includesTombstones: Bool = false
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.persistentReference = persistentReference
        self.limit = limit
        self.match = match
        self.includesTombstones = includesTombstones
    }
}

/// Which of the local and the synchronised items a query sees (keychain-behaviour §3.7).
public enum SynchronizableScope: Sendable, Hashable {
    case local, synchronized, any
}

/// How many results a query wants: never a negative number of them.
public enum MatchLimit: Sendable, Hashable {
    /// kSecMatchLimitOne, or the number 1: a single result, not an array.
    case one
    /// kSecMatchLimitAll, or the number −1.
    case all
    /// Any other number; 0 finds nothing.
    case atMost(UInt32)

    /// A number as kSecMatchLimit has it: −1 stands for all; nil where it is another negative one. A number of more than 32 bits is the
    /// largest of 32 bits: no keychain has as many items.
    public init?(validating number: Int64) {
        switch number {
        case -1: self = .all
        case 1: self = .one
        case 0...: self = .atMost(UInt32(clamping: number))
        default: return nil
        }
    }

    /// The max number of items, 0 or more; nil is no limit.
    public var count: Int? {
        switch self {
        case .one: 1
        case .all: nil
        case .atMost(let count): Int(count)
        }
    }
}

/// Conditions that are no attribute (`kSecMatch…`).
public struct MatchOptions: Sendable, Hashable {
    /// String attributes are compared without regard to case (kSecMatchCaseInsensitive).
    public var ignoresCase = false
    /// The certificate's subject or label contains this text (kSecMatchSubjectContains).
    public var subjectContains: String?
    /// Only these items (kSecMatchItemList).
    public var items: Set<PersistentReference>?
    /// The server is this host or lies in its domain (kSecMatchHostOrSubdomainOfHost).
    public var hostOrSubdomain: String?
    /// The certificate names this e-mail address (kSecMatchEmailAddressIfPresent).
    public var emailAddress: String?

    public init() {}
}

/// What a call gives back of each item.
public struct ReturnTypes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let data = ReturnTypes(rawValue: 1 << 0)
    public static let attributes = ReturnTypes(rawValue: 1 << 1)
    public static let reference = ReturnTypes(rawValue: 1 << 2)
    public static let persistentReference = ReturnTypes(rawValue: 1 << 3)
}

/// What `SecItemUpdate` changes. What is nil or absent stays as it is.
public struct ItemUpdate: Sendable {
    public var attributes: [ItemAttribute: AttributeValue]
    /// New data; nil leaves the old.
    public var data: SharedSecret?
    /// New secret attributes.
    public var secretAttributes: [ItemAttribute: SharedSecret]
    /// Moves the item to another group.
    public var accessGroup: String?
    public var protection: ProtectionClass?
    public var accessControlFlags: AccessControlFlags?
    public var isSynchronizable: Bool?
    /// The creation date may be set, though only by an update (keychain-behaviour §1.3).
    public var created: Double?

    public init(
        attributes: [ItemAttribute: AttributeValue] = [:], data: SharedSecret? = nil,
        secretAttributes: [ItemAttribute: SharedSecret] = [:], accessGroup: String? = nil,
        protection: ProtectionClass? = nil,
        accessControlFlags: AccessControlFlags? = nil, isSynchronizable: Bool? = nil, created: Double? = nil
    ) {
        self.attributes = attributes
        self.data = data
        self.secretAttributes = secretAttributes
        self.accessGroup = accessGroup
        self.protection = protection
        self.accessControlFlags = accessControlFlags
        self.isSynchronizable = isSynchronizable
        self.created = created
    }
}
