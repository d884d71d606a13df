// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// An item that `SecItemAdd` stores.
public struct ItemAddition: Sendable {
    public var itemClass: ItemClass
    /// The given attributes that are neither a field below nor secret.
    public var attributes: [ItemAttribute: AttributeValue]
    public var secrets: ItemSecrets
    /// The access group by name; nil for the caller's first group.
    public var accessGroup: String?
    /// nil for the default protection of the class.
    public var protection: ProtectionClass?
    /// The flags of the access control, if there is one; its protection class is in `protection`.
    public var accessControlFlags: AccessControlFlags?
    public var isSynchronizable: Bool
    /// How the call may satisfy the access control: its password, and the enrolled biometry.
    public var authentication: Authentication
    /// The lookup attributes of a password. `attributes` must have none of those that are taken from
    /// them; the account gets a number if another item has the same primary key.
    public var lookupAttributes: LookupAttributes?
    /// The content type that a client of the Secret Service states for the data of a password.
    public var contentType: ContentType?
    /// Whether the addition changes an item that has exactly these lookup attributes, in the same
    /// access group, instead of adding another one.
    public var replaces = false

    public init(
        _ itemClass: ItemClass, attributes: [ItemAttribute: AttributeValue] = [:], secrets: ItemSecrets = ItemSecrets(),
        accessGroup: String? = nil, protection: ProtectionClass? = nil, accessControlFlags: AccessControlFlags? = nil,
        isSynchronizable: Bool = false, authentication: Authentication = Authentication()
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.secrets = secrets
        self.accessGroup = accessGroup
        self.protection = protection
        self.accessControlFlags = accessControlFlags
        self.isSynchronizable = isSynchronizable
        self.authentication = authentication
    }
}

/// An identity to store: a certificate and its private key.
public struct IdentityAddition: Sendable {
    public var certificate: ItemAddition
    public var key: ItemAddition

    /// The maximum number of identities in one transaction: a frame of the wire protocol carries
    /// 256 secrets, and each identity has two.
    public static let maxCount = 100

    public init(certificate: ItemAddition, key: ItemAddition) {
        self.certificate = certificate
        self.key = key
    }

    /// The access group that all halves name; nil if they name none, or different ones.
    public static func commonGroup(of identities: [IdentityAddition]) -> String? {
        let groups = namedGroups(of: identities)
        return groups.count == 1 ? groups.first ?? nil : nil
    }

    /// Checks the number of identities and their access groups.
    ///
    /// - Throws: errSecParam for more than ``maxCount``, and for halves that name different groups.
    public static func check(_ identities: [IdentityAddition]) throws(KeychainError) {
        guard identities.count <= maxCount else {
            throw .parameter("too many identities: \(identities.count), the maximum is \(maxCount)")
        }
        guard namedGroups(of: identities).count <= 1 else {
            throw .parameter("the certificates and keys of one call must have the same access group")
        }
    }

    private static func namedGroups(of identities: [IdentityAddition]) -> Set<String?> {
        Set(identities.flatMap { [$0.certificate.accessGroup, $0.key.accessGroup] })
    }
}

/// The conditions of `SecItemCopyMatching`, `SecItemUpdate` and `SecItemDelete`; an item must meet
/// all of them.
public struct ItemQuery: Sendable {
    /// The class; nil only if a persistent reference contains it, or if ``lookupAttributes`` are searched in both
    /// classes of passwords.
    public var itemClass: ItemClass?
    /// Attributes that must have these values.
    public var attributes: [ItemAttribute: AttributeValue]
    /// The access group by name; nil for all groups of the caller, or for ``accessGroups``.
    public var accessGroup: String?
    /// Several access groups by name; an item may be in any of them.
    public var accessGroups: [String] = []
    public var synchronizable: SynchronizableScope
    public var persistentReference: PersistentReference?
    /// The maximum number of results; nil for the default of the call (one for copying, all for
    /// update and delete).
    public var limit: MatchLimit?
    public var match: MatchOptions
    /// Whether tombstones are included (kSecUseTombstones).
    public var includesTombstones: Bool
    /// How the call may satisfy the access controls of the items.
    public var authentication: Authentication
    /// Lookup attributes that an item must have, among others. Items of closed classes are then
    /// reported as locked items, where they otherwise make the call fail. Without a class,
    /// the query is for passwords of both classes.
    public var lookupAttributes: LookupAttributes?

    public init(
        _ itemClass: ItemClass?, attributes: [ItemAttribute: AttributeValue] = [:], accessGroup: String? = nil,
        synchronizable: SynchronizableScope = .local, persistentReference: PersistentReference? = nil,
        limit: MatchLimit? = nil,
        match: MatchOptions = MatchOptions(), includesTombstones: Bool = false,
        authentication: Authentication = Authentication()
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.persistentReference = persistentReference
        self.limit = limit
        self.match = match
        self.includesTombstones = includesTombstones
        self.authentication = authentication
    }

    /// All access groups that the query names; empty for all groups of the caller.
    public var namedGroups: [String] { (accessGroup.map { [$0] } ?? []) + accessGroups }
}

/// Whether a query finds local items, synchronized items or both (keychain-behaviour §3.7).
public enum SynchronizableScope: Sendable, Hashable {
    case local, synchronized, any
}

/// The maximum number of results; never negative.
public enum MatchLimit: Sendable, Hashable {
    /// kSecMatchLimitOne, or the number 1: one result that is not in an array.
    case one
    /// kSecMatchLimitAll, or the number −1.
    case all
    /// Any other number; 0 finds nothing.
    case atMost(UInt32)

    /// Creates a limit from the number in kSecMatchLimit: −1 means all; nil for any other negative
    /// number. A number of more than 32 bits becomes the largest 32-bit number, because no keychain
    /// has as many items.
    public init?(validating number: Int64) {
        switch number {
        case -1: self = .all
        case 1: self = .one
        case 0...: self = .atMost(UInt32(clamping: number))
        default: return nil
        }
    }

    /// The maximum number of items, 0 or more; nil for no limit.
    public var count: Int? {
        switch self {
        case .one: 1
        case .all: nil
        case .atMost(let count): Int(count)
        }
    }
}

/// Conditions that are not attributes (`kSecMatch…`).
public struct MatchOptions: Sendable, Hashable {
    /// String attributes are compared without regard to case (kSecMatchCaseInsensitive).
    public var ignoresCase = false
    /// The certificate's subject or label contains this text (kSecMatchSubjectContains).
    public var subjectContains: String?
    /// Only these items (kSecMatchItemList).
    public var items: Set<PersistentReference>?
    /// The server is this host or in its domain (kSecMatchHostOrSubdomainOfHost).
    public var hostOrSubdomain: String?
    /// The certificate contains this email address (kSecMatchEmailAddressIfPresent).
    public var emailAddress: String?

    public init() {}
}

/// The values that a request returns for each item.
public struct ReturnTypes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let data = ReturnTypes(rawValue: 1 << 0)
    public static let attributes = ReturnTypes(rawValue: 1 << 1)
    public static let reference = ReturnTypes(rawValue: 1 << 2)
    public static let persistentReference = ReturnTypes(rawValue: 1 << 3)
}

/// The changes of `SecItemUpdate`. A value that is nil or absent stays as it is.
public struct ItemUpdate: Sendable {
    public var attributes: [ItemAttribute: AttributeValue]
    /// The new data; nil keeps the old data.
    public var data: SharedSecret?
    /// The new secret attributes.
    public var secretAttributes: [ItemAttribute: SharedSecret]
    /// The group that the item is moved to.
    public var accessGroup: String?
    public var protection: ProtectionClass?
    public var accessControlFlags: AccessControlFlags?
    public var isSynchronizable: Bool?
    /// The creation date. Only an update may set it (keychain-behaviour §1.3).
    public var created: Double?
    /// The new lookup attributes of a password, and with them the attributes that are taken from them.
    /// The account gets a number if another item has the same primary key.
    public var lookupAttributes: LookupAttributes?
    /// The new content type; nil keeps the old one.
    public var contentType: ContentType?

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
