// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// The attributes of a dictionary, converted with the schema of a class. Some become fields of a
/// request.
struct ConvertedAttributes {
    var plain: [ItemAttribute: AttributeValue] = [:]
    var secret: [ItemAttribute: SharedSecret] = [:]
    var accessGroup: String?
    var protection: ProtectionClass?
    var accessControl: SecAccessControl?
    var synchronizable: SynchronizableScope?

    init(_ attributes: [(code: String, value: Any)], of itemClass: ItemClass) throws(KeychainError) {
        let schema = ItemSchema.of(itemClass)
        for (code, value) in attributes {
            guard let attribute = ItemAttribute(rawValue: code), let column = schema[attribute] else {
                throw KeychainError(.noSuchAttribute, "\(itemClass.constant) has no attribute '\(code)'")
            }
            try take(attribute, column, value)
        }
        try reconcileProtection()
    }

    private mutating func take(_ attribute: ItemAttribute, _ column: ItemSchema.Column, _ value: Any)
        throws(KeychainError)
    {
        switch attribute {
        case .synchronizable:
            if let flag = ValueConversion.flag(value) {
                synchronizable = flag ? .synchronized : .local
            } else if value as? String == "syna" {
                synchronizable = .any
            } else {
                throw .parameter(
                    "kSecAttrSynchronizable must be a Boolean or kSecAttrSynchronizableAny")
            }
        case .accessControl:
            guard let control = value as? SecAccessControl else {
                throw .parameter("kSecAttrAccessControl must be a SecAccessControl")
            }
            accessControl = control
        case .accessible:
            guard case .string(let code) = try ValueConversion.value(value, for: column),
                let known = ProtectionClass(rawValue: code)
            else {
                throw .parameter("kSecAttrAccessible must be a protection class")
            }
            protection = known
        case .accessGroup:
            guard case .string(let name) = try ValueConversion.value(value, for: column) else {
                throw .parameter("kSecAttrAccessGroup must be a string")
            }
            accessGroup = name
        default:
            if column.isSecret {
                secret[attribute] = try ValueConversion.secret(value, name: column.constant)
            } else {
                plain[attribute] = try ValueConversion.value(value, for: column)
            }
        }
    }

    /// A SecAccessControl from the flags API conflicts with a protection class in the same
    /// dictionary. A SecAccessControl from a result only repeats the class.
    private mutating func reconcileProtection() throws(KeychainError) {
        guard let accessControl else { return }
        guard let known = ProtectionClass(rawValue: accessControl.protection) else {
            throw .parameter(
                "the access control's protection '\(accessControl.protection)' is not allowed for stored items")
        }
        if let protection, accessControl.flags != nil || protection != known {
            throw .parameter("kSecAttrAccessible and kSecAttrAccessControl exclude each other")
        }
        protection = known
    }

    /// Removes the attributes that only the system sets.
    mutating func removeSystemAttributes() {
        for attribute in [ItemAttribute.creationDate, .modificationDate, .tombstone, .digest, .multiUser] {
            plain[attribute] = nil
        }
    }

    var accessControlFlags: AccessControlFlags? {
        accessControl?.flags.map { AccessControlFlags(rawValue: UInt64($0.rawValue)) }
    }
}

// MARK: Add

/// The parsed dictionary of `SecItemAdd`.
struct AddRequest {
    /// The items to add: one for each element, or the certificate and the key of an identity.
    let elements: [[ItemAddition]]
    let isIdentity: Bool
    /// Whether the items come from kSecUseItemList.
    let isList: Bool
    let returning: ReturnTypes

    init(parsing dictionary: CFDictionary) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        guard parsed.match.isEmpty else { throw .parameter("match keys are not allowed in SecItemAdd") }
        guard parsed.persistentReference == nil else { throw .parameter("a new item has no persistent reference yet") }
        try parsed.checkUse(allowsSkip: false)
        returning = parsed.returning
        let data = try parsed.secret()
        let reference = try parsed.itemReference()
        let list = try parsed.objectsToAdd()
        isList = list != nil
        if let objects = list ?? reference.map({ [$0] }) {
            guard data == nil else { throw .parameter("an object and kSecValueData exclude each other") }
            guard list == nil || reference == nil else {
                throw .parameter("kSecUseItemList and kSecValueRef exclude each other")
            }
            isIdentity = objects[0].itemClass == .identity
            let given = try Self.attributes(parsed, of: objects[0].itemClass)
            elements = try objects.map { (object) throws(KeychainError) in
                try object.items().map { item in
                    Self.addition(item.itemClass, given, standard: item.attributes, item.data)
                }
            }
        } else {
            let itemClass = try parsed.requiredClass()
            guard itemClass != .identity else {
                throw .parameter("an identity must be added by reference; it has no row of its own")
            }
            isIdentity = false
            let given = try Self.attributes(parsed, of: itemClass)
            var standard: [ItemAttribute: AttributeValue] = [:]
            if itemClass == .certificate, let certificate = data.flatMap(Self.certificate) {
                standard = CertificateAttributes.standard(certificate)
            } else if returning.contains(.reference) {
                // If the caller wants a reference, data that cannot have one is refused before it
                // is stored.
                if itemClass == .key { try Self.requireKey(given.plain, data) }
                if itemClass == .certificate { throw KeychainError(.decode, "the data must be a certificate in DER") }
            }
            elements = [[Self.addition(itemClass, given, standard: standard, data)]]
        }
    }

    private static func attributes(_ parsed: ItemDictionary, of itemClass: ItemClass) throws(KeychainError)
        -> ConvertedAttributes
    {
        var attributes = try ConvertedAttributes(parsed.attributes, of: itemClass)
        attributes.removeSystemAttributes()
        return attributes
    }

    private static func addition(
        _ itemClass: ItemClass, _ given: ConvertedAttributes, standard: [ItemAttribute: AttributeValue],
        _ data: SharedSecret?
    ) -> ItemAddition {
        // The certificate and the key of an identity each take those attributes that their class
        // has.
        let own = given.plain.filter { ItemSchema.of(itemClass)[$0.key] != nil }
        return ItemAddition(
            itemClass, attributes: own.merging(standard) { given, _ in given },
            secrets: ItemSecrets(data: data, attributes: given.secret),
            accessGroup: given.accessGroup, protection: given.protection, accessControlFlags: given.accessControlFlags,
            isSynchronizable: given.synchronizable == .synchronized)
    }

    private static func certificate(_ data: SharedSecret) -> Certificate? {
        data.withUnsafeBytes { try? Certificate(der: Array($0)) }
    }

    /// Refuses data that is not a key of the type and class that the attributes name.
    private static func requireKey(_ attributes: [ItemAttribute: AttributeValue], _ data: SharedSecret?)
        throws(KeychainError)
    {
        guard case .number(let type)? = attributes[.type], let type = KeyType(rawValue: type) else {
            throw KeychainError(.unimplemented, "keys of this type can be stored, but have no reference")
        }
        guard case .number(let half)? = attributes[.keyClass] ?? .number(0), let half = KeyHalf(rawValue: half) else {
            throw KeychainError(.unimplemented, "keys of this class can be stored, but have no reference")
        }
        guard let data else { throw KeychainError(.decode, "the item does not hold a key") }
        try data.withUnsafeBytes { (bytes) throws(KeychainError) in
            switch half {
            case .publicKey: _ = try PublicKey(imported: bytes, type: type)
            case .privateKey: _ = try SoftwareKey(external: bytes, type: type)
            }
        }
    }
}

// MARK: Copy

/// The parsed dictionary of `SecItemCopyMatching`.
struct CopyRequest {
    private let lookup: ItemLookup
    let returning: ReturnTypes
    /// Conditions that need the parsed certificate; nil if there are none.
    let filter: CertificateFilter?

    init(parsing dictionary: CFDictionary) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        try parsed.checkUse(allowsSkip: true)
        var lookup = try parsed.lookup()
        if parsed.persistentReference != nil,
            !parsed.attributes.allSatisfy({ $0.code == ItemAttribute.synchronizable.rawValue })
        {
            throw .parameter("a persistent reference must not be combined with attributes")
        }
        let itemClass = lookup.query.itemClass ?? .genericPassword
        let limit = try Self.limit(parsed.match[ItemDictionary.Key.limit])
        let match = try parsed.matchOptions(for: itemClass)
        lookup.narrow { query in
            query.limit = limit
            query.match = match
        }
        self.lookup = lookup
        returning = parsed.returning
        filter = try CertificateFilter(parsed.match, of: itemClass)
    }

    /// Whether the caller wants one result, not an array.
    var limitsToOne: Bool { (lookup.query.limit ?? .one) == .one }

    /// Returns the matching items. The conditions that need a parsed certificate are checked here.
    func matches() throws(KeychainError) -> [ItemRecord] {
        try lookup.perform { (query) throws(KeychainError) in try matches(of: query) }
    }

    private func matches(of query: ItemQuery) throws(KeychainError) -> [ItemRecord] {
        let service = try KeychainClient.service()
        // A certificate's reference is created from its bytes.
        let needsData = query.itemClass == .certificate && (returning.contains(.reference) || filter != nil)
        var unlimitedQuery = query
        if filter != nil { unlimitedQuery.limit = .all }
        let found = try service.copyMatching(
            unlimitedQuery, returning: needsData ? returning.union(.data) : returning, from: KeychainClient.caller)
        guard let filter else { return found.records }
        var matchingRecords: [ItemRecord] = []
        for record in found.records {
            let certificate =
                query.itemClass == .identity
                ? try KeychainCertificates.ofIdentity(record) : KeychainCertificates.certificate(of: record)
            if let certificate, filter.matches(certificate) { matchingRecords.append(record) }
        }
        return (query.limit ?? .one).count.map { Array(matchingRecords.prefix($0)) } ?? matchingRecords
    }

    private static func limit(_ value: Any?) throws(KeychainError) -> MatchLimit? {
        guard let value else { return nil }
        switch value as? String {
        case "m_LimitOne": return .one
        case "m_LimitAll": return .all
        default: break
        }
        guard ValueConversion.boolean(value) == nil, let number = ValueConversion.integer(value) else {
            throw .parameter("kSecMatchLimit must be a number or one of its constants")
        }
        guard let limit = MatchLimit(validating: number) else {
            throw .parameter("kSecMatchLimit must not be negative")
        }
        return limit
    }
}

extension ItemDictionary {
    /// The conditions that the match keys state.
    fileprivate func matchOptions(for itemClass: ItemClass) throws(KeychainError) -> MatchOptions {
        var options = MatchOptions()
        let isCertificate = itemClass == .certificate || itemClass == .identity
        if let value = match[Key.emailAddress] {
            guard let address = value as? String else {
                throw .parameter("kSecMatchEmailAddressIfPresent must be a string")
            }
            if isCertificate { options.emailAddress = address }
        }
        if let value = match[Key.hostOrSubdomain] {
            guard itemClass == .internetPassword else {
                throw KeychainError(.unimplemented, "a host match is only for internet passwords")
            }
            guard let host = value as? String else { throw .parameter("the host to match must be a string") }
            options.hostOrSubdomain = host
        }
        if let value = match[Key.subjectContains] {
            guard let text = value as? String else {
                throw .parameter("kSecMatchSubjectContains must be a string")
            }
            if isCertificate { options.subjectContains = text }
        }
        if let value = match[Key.caseInsensitive] {
            guard let flag = ValueConversion.boolean(value) else {
                throw .parameter("kSecMatchCaseInsensitive must be a Boolean")
            }
            options.ignoresCase = flag
        }
        options.items = try listedItems()
        return options
    }
}

// MARK: Update and delete

/// The parsed query dictionary of `SecItemUpdate` or `SecItemDelete`.
///
/// Match keys have no effect, as on macOS, because code on Linux takes the branch that is meant for
/// macOS (keychain-behaviour §3.5). The exception is kSecMatchItemList, which macOS obeys: if it
/// were ignored, a call that names its items would change all items.
struct ChangeRequest {
    enum Kind { case update, delete }

    let lookup: ItemLookup
    /// The class of the items, given by name or by reference.
    let itemClass: ItemClass

    init(parsing dictionary: CFDictionary, for kind: Kind) throws(KeychainError) {
        let parsed = try ItemDictionary(dictionary)
        guard kind == .delete || parsed.returning.isEmpty else {
            throw .parameter("return keys are not allowed in SecItemUpdate")
        }
        try parsed.checkUse(allowsSkip: false)
        var lookup = try parsed.lookup()
        let listed = try parsed.listedItems()
        lookup.narrow { $0.match.items = listed }
        if !Set(parsed.match.keys).isSubset(of: ItemDictionary.Key.withoutWarning) {
            ProgramLog.current.warn(.matchKeysIgnored)
        }
        self.lookup = lookup
        itemClass = lookup.query.itemClass ?? .genericPassword
        // As with Apple, the identity that a persistent reference names can be deleted but not
        // updated (keychain-behaviour, T088).
        if kind == .update, lookup.query.persistentReference?.itemClass == .identity {
            throw KeychainError(
                .internalFailure, "an identity must be updated by its attributes, not by its persistent reference")
        }
    }
}

/// The parsed second dictionary of `SecItemUpdate`.
struct UpdateRequest {
    let update: ItemUpdate

    init(parsing dictionary: CFDictionary, of itemClass: ItemClass) throws(KeychainError) {
        var named: [(code: String, value: Any)] = []
        var data: SharedSecret?
        for (key, value) in dictionary {
            guard let name = key as? String else { throw .parameter("the keys of the dictionary must be strings") }
            guard !(value is NSNull) else { throw .parameter("'\(name)' must not be null") }
            switch name {
            case ItemDictionary.Key.data: data = try ValueConversion.secret(value, name: "kSecValueData")
            case "nleg", "musr": break
            case "clip": throw .parameter("'clip' is reserved")
            // Every other key is treated as an attribute, also class, match, return and use keys,
            // which are then refused.
            default: named.append((name, value))
            }
        }
        var attributes = try ConvertedAttributes(named, of: itemClass)
        guard attributes.synchronizable != .any else {
            throw .parameter("kSecAttrSynchronizable must be a Boolean in an update")
        }
        var created: Double?
        if case .date(let date)? = attributes.plain[.creationDate] { created = date }
        attributes.removeSystemAttributes()
        update = ItemUpdate(
            attributes: attributes.plain, data: data, secretAttributes: attributes.secret,
            accessGroup: attributes.accessGroup,
            protection: attributes.protection, accessControlFlags: attributes.accessControlFlags,
            isSynchronizable: attributes.synchronizable.map { $0 == .synchronized }, created: created)
    }
}

// MARK: Shared

extension ItemDictionary {
    /// The query that the three searching calls have in common.
    fileprivate func lookup() throws(KeychainError) -> ItemLookup {
        _ = try secret()  // Data in a query is not a condition, but its type is checked.
        let object = try itemReference()
        let given = try decodedPersistentReference()
        let reference = given ?? object?.persistentReference
        let named = try namedClass() ?? object?.itemClass
        guard let itemClass = named ?? reference?.itemClass else { throw .parameter("kSecClass is missing") }
        if let reference, reference.itemClass != itemClass {
            throw KeychainError(.noSuchClass, "the class of the persistent reference differs from kSecClass")
        }
        let attributes = try ConvertedAttributes(self.attributes, of: itemClass)
        guard attributes.secret.isEmpty else { throw .parameter("secret attributes cannot be searched for") }
        var conditions = attributes.plain
        for name in [ItemAttribute.issuer, .subject] {
            if case .data(let bytes)? = conditions[name] {
                conditions[name] = .data(CertificateAttributes.searchedName(bytes))
            }
        }
        if let protection = attributes.protection, attributes.accessControl?.flags == nil {
            conditions[.accessible] = .string(protection.rawValue)
        }
        // A persistent reference names one item in either scope. The same applies to an object that
        // came from such a reference, unless the query names a scope.
        let scope = given != nil ? .any : attributes.synchronizable ?? (reference == nil ? .local : .any)
        let query = ItemQuery(
            itemClass, attributes: conditions, accessGroup: attributes.accessGroup, synchronizable: scope,
            persistentReference: reference,
            includesTombstones: includesTombstones)
        guard given == nil, let object else { return ItemLookup(query) }
        var byContent = query
        byContent.persistentReference = nil
        byContent.synchronizable = attributes.synchronizable ?? .local
        // An attribute in the query takes precedence over the same attribute of the object.
        byContent.attributes.merge(try object.conditions()) { given, _ in given }
        return reference == nil ? ItemLookup(byContent) : ItemLookup(query, otherwise: byContent)
    }
}
