// SPDX-License-Identifier: Apache-2.0

/// The description of an item class: its attributes, their values, the primary key, the attributes
/// that are searched by token, and those that the system sets. Parsing, storage, output,
/// documentation and tests use it.
///
/// Source: keychain-behaviour §1.4. The columns of Apple's sync engines (`ggrp pcss pcsk pcsi sysb
/// UUID clip`) are left out.
public struct ItemSchema: Sendable {
    /// The class that the schema describes.
    public let itemClass: ItemClass
    /// The columns in a fixed order.
    public let columns: [Column]
    private let byAttribute: [ItemAttribute: Column]

    /// One attribute of one class.
    public struct Column: Sendable {
        /// The attribute.
        public let attribute: ItemAttribute
        /// The name of Apple's constant, such as `kSecAttrAccount`.
        public let constant: String
        /// The kind of the attribute's values.
        public let kind: ValueKind
        /// The default: the value that an unset attribute has in the primary key and gets when an
        /// item is added.
        public let initial: AttributeValue?
        /// The uses of the attribute.
        public let roles: Roles

        /// Whether the attribute is part of the primary key.
        public var isPrimaryKey: Bool { roles.contains(.primaryKey) }
        /// Whether only the system sets the attribute.
        public var isSystemSet: Bool { roles.contains(.system) }
        /// Whether the attribute is searched by token. Other attributes are compared afterwards,
        /// within the access group.
        public var isIndexed: Bool { roles.contains(.indexed) }
        /// Whether the value is in the secret half and is returned only with the data.
        public var isSecret: Bool { roles.contains(.secret) }
        /// Whether the value is in a record's `attributes`: it is neither secret nor a field of the
        /// record.
        public var isStoredWithMetadata: Bool { !isSecret && !isSystemSet }
    }

    /// The uses of an attribute of a class.
    public struct Roles: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: UInt8
        /// A set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Part of the primary key.
        public static let primaryKey = Roles(rawValue: 1 << 0)
        /// Has a search token of its own.
        public static let indexed = Roles(rawValue: 1 << 1)
        /// Set by the system. A value from the caller is ignored, rejected or has a field of its
        /// own.
        public static let system = Roles(rawValue: 1 << 2)
        /// Stored in the secret half.
        public static let secret = Roles(rawValue: 1 << 3)
    }

    /// The values that an attribute accepts (keychain-behaviour §1.2).
    public enum ValueKind: String, Sendable {
        /// A string; data is read as UTF-8.
        case string
        /// A string, data or number, stored as given.
        case blob
        /// Data; a string becomes its UTF-8 and a number its four bytes.
        case data
        /// A number. A Boolean becomes 0 or 1; a string becomes a number if it is the exact decimal
        /// form of a 32-bit number.
        case number
        /// A date.
        case date
        /// Data of exactly 20 bytes.
        case sha1
        /// Data of 0 or 16 bytes.
        case uuid
        /// An access control object.
        case accessControl
        /// An access list object, stored as data.
        case accessList
    }

    /// The column of `attribute`; nil if the class has no such attribute (errSecNoSuchAttr).
    public subscript(attribute: ItemAttribute) -> Column? {
        byAttribute[attribute]
    }

    /// The columns of the primary key, in order.
    public let primaryKey: [Column]

    /// Returns the schema of a class. An identity has the attributes of certificates and of keys.
    public static func of(_ itemClass: ItemClass) -> ItemSchema {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }

    private init(_ itemClass: ItemClass, _ columns: [Column]) {
        self.itemClass = itemClass
        self.columns = columns
        primaryKey = columns.filter(\.isPrimaryKey)
        byAttribute = Dictionary(columns.map { ($0.attribute, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

// MARK: The table

extension ItemSchema {
    private static let common: [Column] = [
        .init(.creationDate, "kSecAttrCreationDate", .date, .system),
        .init(.modificationDate, "kSecAttrModificationDate", .date, .system),
        .init(.label, "kSecAttrLabel", .blob, .indexed),
        .init(.alias, "kSecAttrAlias", .blob),
        .init(.accessGroup, "kSecAttrAccessGroup", .string, [.primaryKey, .system]),
        .init(.accessible, "kSecAttrAccessible", .string, .system),
        .init(.synchronizable, "kSecAttrSynchronizable", .number, [.primaryKey, .system], .number(0)),
        .init(.tombstone, "kSecAttrTombstone", .number, .system, .number(0)),
        .init(.digest, "kSecAttrSHA1", .sha1, .system),
        .init(.tokenIdentifier, "kSecAttrTokenID", .string, .primaryKey),
        .init(.accessControl, "kSecAttrAccessControl", .accessControl, .system),
        .init(.multiUser, "kSecAttrMultiUser", .uuid, .system, .data([])),
        // In Apple's schema, this is part of the primary key. Here it is not, so that the tokens of
        // existing items do not change.
        .init(.syncViewHint, "kSecAttrSyncViewHint", .string),
    ]

    private static let passwords: [Column] = [
        .init(.itemDescription, "kSecAttrDescription", .blob),
        .init(.comment, "kSecAttrComment", .blob),
        .init(.creator, "kSecAttrCreator", .number),
        .init(.type, "kSecAttrType", .number),
        .init(.scriptCode, "kSecAttrScriptCode", .number),
        .init(.isInvisible, "kSecAttrIsInvisible", .number),
        .init(.isNegative, "kSecAttrIsNegative", .number),
        .init(.hasCustomIcon, "kSecAttrHasCustomIcon", .number),
        .init(.customProtection, "kSecProtectedDataItemAttr", .blob),
        .init(.account, "kSecAttrAccount", .blob, [.primaryKey, .indexed], .string("")),
        .init(.accessList, "kSecAttrAccess", .accessList),
    ]

    static let genericPassword = ItemSchema(
        .genericPassword,
        common + passwords + [
            .init(.service, "kSecAttrService", .blob, [.primaryKey, .indexed], .string("")),
            .init(.generic, "kSecAttrGeneric", .blob),
        ])

    static let internetPassword = ItemSchema(
        .internetPassword,
        common + passwords + [
            .init(.securityDomain, "kSecAttrSecurityDomain", .blob, .primaryKey, .string("")),
            .init(.server, "kSecAttrServer", .blob, [.primaryKey, .indexed], .string("")),
            .init(.protocol, "kSecAttrProtocol", .number, .primaryKey, .number(0)),
            .init(.authenticationType, "kSecAttrAuthenticationType", .blob, .primaryKey, .string("")),
            .init(.port, "kSecAttrPort", .number, .primaryKey, .number(0)),
            .init(.path, "kSecAttrPath", .blob, .primaryKey, .string("")),
            .init(.extraNotes, "kSecDataInetExtraNotes", .data, .secret),
            .init(.extraHistory, "kSecDataInetExtraHistory", .data, .secret),
            .init(.extraClient0, "kSecDataInetExtraClientDefined0", .data, .secret),
            .init(.extraClient1, "kSecDataInetExtraClientDefined1", .data, .secret),
            .init(.extraClient2, "kSecDataInetExtraClientDefined2", .data, .secret),
            .init(.extraClient3, "kSecDataInetExtraClientDefined3", .data, .secret),
        ])

    static let certificate = ItemSchema(
        .certificate,
        common + [
            .init(.certificateType, "kSecAttrCertificateType", .number, .primaryKey, .number(0)),
            .init(.certificateEncoding, "kSecAttrCertificateEncoding", .number),
            .init(.subject, "kSecAttrSubject", .data, .indexed),
            .init(.issuer, "kSecAttrIssuer", .data, [.primaryKey, .indexed], .data([])),
            .init(.serialNumber, "kSecAttrSerialNumber", .data, .primaryKey, .data([])),
            .init(.subjectKeyIdentifier, "kSecAttrSubjectKeyID", .data),
            .init(.publicKeyHash, "kSecAttrPublicKeyHash", .data, .indexed),
        ])

    static let key = ItemSchema(
        .key,
        common + [
            .init(.keyClass, "kSecAttrKeyClass", .number, .primaryKey, .number(0)),
            .init(.isPermanent, "kSecAttrIsPermanent", .number),
            .init(.isPrivate, "kSecAttrIsPrivate", .number),
            .init(.isModifiable, "kSecAttrIsModifiable", .number),
            .init(.applicationLabel, "kSecAttrApplicationLabel", .data, [.primaryKey, .indexed], .data([])),
            .init(.applicationTag, "kSecAttrApplicationTag", .blob, [.primaryKey, .indexed], .data([])),
            .init(.creator, "kSecAttrKeyCreator", .number, .primaryKey, .number(0)),
            .init(.type, "kSecAttrKeyType", .number, .primaryKey, .number(0)),
            .init(.keySizeInBits, "kSecAttrKeySizeInBits", .number, .primaryKey, .number(0)),
            .init(.effectiveKeySize, "kSecAttrEffectiveKeySize", .number, .primaryKey, .number(0)),
            .init(.startDate, "kSecAttrStartDate", .date, .primaryKey, .date(0)),
            .init(.endDate, "kSecAttrEndDate", .date, .primaryKey, .date(0)),
            .init(.isSensitive, "kSecAttrIsSensitive", .number),
            .init(.wasAlwaysSensitive, "kSecAttrWasAlwaysSensitive", .number),
            .init(.isExtractable, "kSecAttrIsExtractable", .number),
            .init(.wasNeverExtractable, "kSecAttrWasNeverExtractable", .number),
            .init(.canEncrypt, "kSecAttrCanEncrypt", .number),
            .init(.canDecrypt, "kSecAttrCanDecrypt", .number),
            .init(.canDerive, "kSecAttrCanDerive", .number),
            .init(.canSign, "kSecAttrCanSign", .number),
            .init(.canVerify, "kSecAttrCanVerify", .number),
            .init(.canSignRecover, "kSecAttrCanSignRecover", .number),
            .init(.canVerifyRecover, "kSecAttrCanVerifyRecover", .number),
            .init(.canWrap, "kSecAttrCanWrap", .number),
            .init(.canUnwrap, "kSecAttrCanUnwrap", .number),
            .init(.accessList, "kSecAttrAccess", .accessList),
        ])

    /// The certificate's column takes precedence over the key's column of the same attribute
    /// (keychain-behaviour §1.4, idnt).
    static let identity = ItemSchema(
        .identity, certificate.columns + key.columns.filter { certificate[$0.attribute] == nil })
}

extension ItemSchema.Column {
    fileprivate init(
        _ attribute: ItemAttribute, _ constant: String, _ kind: ItemSchema.ValueKind, _ roles: ItemSchema.Roles = [],
        _ initial: AttributeValue? = nil
    ) {
        self.attribute = attribute
        self.constant = constant
        self.kind = kind
        self.initial = initial
        self.roles = roles
    }
}
