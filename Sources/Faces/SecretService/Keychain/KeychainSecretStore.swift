// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
internal import SecretMemory

/// The user's keychain as a store: the same items that `SecItem` and `security` see.
///
/// The collection `login` is the shared access group. Every other collection is a group of its own,
/// which an item in the shared group records. Attested groups are no collections, and are never
/// visible here: every caller of a session bus is a program of the user.
///
/// What depends on how attributes are stored is in ``KeychainItemMapping``.
public final class KeychainSecretStore: SecretStore {
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    /// - Parameter open: returns the keychain, as this process uses it.
    public init(_ open: @escaping @Sendable () throws(KeychainError) -> KeychainSession) { self.open = open }

    // MARK: Sessions and errors

    /// Calls `body` with the keychain, as a program that is entitled to these groups.
    func withKeychain<Value>(
        _ groups: [String], _ body: (KeychainSession) throws(KeychainError) -> Value
    ) throws(SecretStoreError) -> Value {
        do throws(KeychainError) {
            let opened = try open()
            var caller = opened.caller
            caller.declaredGroups = groups
            // The user's command would need the passcode for the groups of other programs.
            caller.isUserCommand = false
            return try body(KeychainSession(opened.service, as: caller))
        } catch {
            throw SecretStoreError(error)
        }
    }

    /// The group of a collection.
    static func group(of collection: CollectionName) -> String {
        collection == .login ? AccessGroup.shared.name : groupPrefix + collection.text
    }

    /// The collection of an item's group; nil for a group that is no collection.
    static func collection(of group: AccessGroup) -> CollectionName? {
        guard group.grade == .claimed else { return nil }
        if group == .shared { return .login }
        guard group.name.hasPrefix(groupPrefix) else { return nil }
        return CollectionName(String(group.name.dropFirst(groupPrefix.count)))
    }

    private static let groupPrefix = "org.freedesktop.secrets."

    // MARK: Items

    public func items(in collection: CollectionName) throws(SecretStoreError) -> [SecretItemID] {
        do throws(SecretStoreError) {
            return try records(.none, in: [collection]).compactMap { SecretItemID($0.persistentReference.bytes) }
        } catch .locked {
            // Closed classes cannot be listed yet: KeychainItemMapping.
            return []
        } catch {
            throw error
        }
    }

    public func search(
        _ attributes: SecretAttributes, in collection: CollectionName?
    ) throws(SecretStoreError) -> [FoundItem] {
        var names: [CollectionName] = []
        if let collection { names = [collection] } else { names = try collections().map(\.name) }
        return try records(attributes, in: names).compactMap { record in
            Self.reference(of: record).map { FoundItem($0, isLocked: false) }
        }
    }

    public func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem {
        do throws(SecretStoreError) {
            let record = try record(reference, returning: .attributes)
            return SecretItem(
                reference, label: record[.label]?.text ?? "", attributes: KeychainItemMapping.attributes(of: record),
                isLocked: false, created: Self.seconds(record.created), modified: Self.seconds(record.modified))
        } catch .locked {
            return SecretItem(reference, label: "", attributes: .none, isLocked: true, created: 0, modified: 0)
        } catch {
            throw error
        }
    }

    public func secret(of reference: ItemReference) throws(SecretStoreError) -> SecretValue {
        let record = try record(reference, returning: [.attributes, .data])
        return SecretValue(
            record.secrets?.data ?? SharedSecret(copying: [UInt8]()),
            contentType: KeychainItemMapping.contentType(of: record))
    }

    public func add(
        _ item: NewSecretItem, replacing: Bool, to collection: CollectionName
    ) throws(SecretStoreError) -> AddedItem {
        _ = try self.collection(collection)
        if replacing, let equal = try equalItem(item.attributes, in: collection) {
            try update(equal, with: SecretItemUpdate(label: item.label, secret: item.secret))
            return AddedItem(equal, isReplacement: true)
        }
        let group = Self.group(of: collection)
        let record = try withKeychain([group]) { (keychain) throws(KeychainError) -> ItemRecord in
            try KeychainItemMapping.numbered { (number) throws(KeychainError) -> ItemRecord in
                try keychain.add(KeychainItemMapping.addition(item, number: number, group: group))
            }
        }
        guard let reference = Self.reference(of: record) else { throw .notFound }
        return AddedItem(reference, isReplacement: false)
    }

    public func update(_ reference: ItemReference, with update: SecretItemUpdate) throws(SecretStoreError) {
        let present = try record(reference, returning: .attributes)
        try withKeychain([Self.group(of: reference.collection)]) { (keychain) throws(KeychainError) -> Void in
            let query = try Self.query(reference)
            _ = try KeychainItemMapping.numbered { (number) throws(KeychainError) -> Int in
                try keychain.update(query, with: KeychainItemMapping.update(update, of: present, number: number))
            }
        }
    }

    public func deleteItem(_ reference: ItemReference) throws(SecretStoreError) {
        // A locked item is not deleted: the person may not have meant it.
        _ = try record(reference, returning: .attributes)
        try withKeychain([Self.group(of: reference.collection)]) { (keychain) throws(KeychainError) -> Void in
            _ = try keychain.delete(try Self.query(reference))
        }
    }

    /// The item with exactly these attributes.
    private func equalItem(
        _ attributes: SecretAttributes, in collection: CollectionName
    ) throws(SecretStoreError) -> ItemReference? {
        let records = try records(attributes, in: [collection])
        return records.first { KeychainItemMapping.attributes(of: $0) == attributes }.flatMap(Self.reference)
    }

    /// Returns the items with these attributes, without those that record collections.
    private func records(
        _ attributes: SecretAttributes, in collections: [CollectionName]
    ) throws(SecretStoreError) -> [ItemRecord] {
        let groups = collections.map(Self.group)
        let found = try withKeychain(groups) { (keychain) throws(KeychainError) -> [ItemRecord] in
            var found: [ItemRecord] = []
            for query in KeychainItemMapping.queries(for: attributes, group: groups.count == 1 ? groups.first : nil) {
                found += try Self.matches(query, keychain)
            }
            return found
        }
        return found.filter { record in
            !KeychainMarkers.isMarker(record) && KeychainItemMapping.attributes(of: record).contains(attributes)
        }
    }

    private static func matches(
        _ query: ItemQuery, _ keychain: KeychainSession
    ) throws(KeychainError) -> [ItemRecord] {
        do throws(KeychainError) {
            return try keychain.copyMatching(query, returning: .attributes).records
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    private func record(_ reference: ItemReference, returning: ReturnTypes) throws(SecretStoreError) -> ItemRecord {
        let group = Self.group(of: reference.collection)
        let record = try withKeychain([group]) { (keychain) throws(KeychainError) -> ItemRecord? in
            try keychain.copyMatching(try Self.query(reference), returning: returning).records.first
        }
        guard let record, !KeychainMarkers.isMarker(record) else { throw .notFound }
        return record
    }

    private static func query(_ reference: ItemReference) throws(KeychainError) -> ItemQuery {
        guard let persistent = PersistentReference(bytes: reference.item.bytes),
            [.genericPassword, .internetPassword].contains(persistent.itemClass)
        else { throw .itemNotFound }
        // A client gives up after 25 seconds, so that no call waits for a person.
        return ItemQuery(
            nil, accessGroup: group(of: reference.collection), synchronizable: .any, persistentReference: persistent,
            authentication: Authentication(.fail))
    }

    private static func reference(of record: ItemRecord) -> ItemReference? {
        guard let collection = collection(of: record.accessGroup),
            let item = SecretItemID(record.persistentReference.bytes)
        else { return nil }
        return ItemReference(collection, item)
    }

    /// Seconds since 1970, from seconds since 2001.
    static func seconds(_ date: Double) -> UInt64 {
        UInt64(exactly: (date + 978_307_200).rounded(.down)) ?? 0
    }
}

extension SecretStoreError {
    init(_ error: KeychainError) {
        switch error.status {
        case .itemNotFound: self = .notFound
        case .interactionNotAllowed: self = .locked
        case .authFailed: self = .wrongPasscode(error.problem)
        case .missingEntitlement, .readOnly, .writePermission: self = .denied(error.problem)
        case .param: self = .invalid(error.problem)
        case .dataTooLarge, .diskFull: self = .limitExceeded(error.problem)
        case .unimplemented: self = .notSupported(error.problem)
        default: self = .unavailable(error.problem, hint: error.hint)
        }
    }
}
