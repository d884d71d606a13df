// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// The collections of the Secret Service in a keychain:
/// `login`, present in every keychain, and those that programs and `latchkey collection` create.
///
/// A further collection is an access group (``CollectionName/accessGroup``), and an item in the group
/// ``AccessGroup/collections`` that records its name, its label and its dates. So the list is sealed,
/// backed up and moved with the keychain, and is the same in every process and through every daemon.
///
/// ```swift
/// let collections = KeychainCollections(try KeychainClient.session())
/// let work = try collections.create(label: "Work")
/// ```
public struct KeychainCollections: Sendable {
    private let keychain: KeychainSession
    private let records: KeychainRecords

    public init(_ keychain: KeychainSession) { (self.keychain, records) = (keychain, KeychainRecords(keychain)) }

    /// The maximum number of collections, with `login`.
    public static let maxCount = 256

    // MARK: Reading

    /// Returns the collections of the user: `login`, and then the others in the order of their creation.
    public func all() throws(KeychainError) -> [KeychainCollection] {
        var login = Self.login
        var others: [KeychainCollection] = []
        for record in try records.all(.collection).records {
            guard let collection = KeychainCollection(record), collection.name != .session,
                !collection.name.isOfProgram
            else { continue }
            if collection.name == .login { login = collection } else { others.append(collection) }
        }
        return [login] + others
    }

    /// Returns the collections of programs, by their names: the own groups that have passwords. It reads every password:
    /// none while some are locked.
    public func ofPrograms() throws(KeychainError) -> [KeychainCollection] {
        var query = ItemQuery(nil, synchronizable: .any, limit: .all, authentication: Authentication(.skip))
        query.lookupAttributes = .empty
        var groups: Set<AccessGroup> = []
        do throws(KeychainError) {
            try keychain.copyMatching(query, returning: .persistentReference) {
                groups = []
            } inParts: { part in
                groups.formUnion(part.records.lazy.map(\.accessGroup).filter { $0.programName != nil })
            }
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
            return []
        }
        return groups.sorted { $0.name < $1.name }.compactMap {
            CollectionName($0).map(KeychainCollection.init(ofProgram:))
        }
    }

    /// - Throws: errSecItemNotFound if there is no such collection.
    public func collection(_ name: CollectionName) throws(KeychainError) -> KeychainCollection {
        guard !name.isOfProgram else {
            guard try passwordCount(in: name) > 0 else { throw Self.missing }
            return KeychainCollection(ofProgram: name)
        }
        let found = try records.all(.collection, name.text)
        if let collection = found.records.lazy.compactMap({ KeychainCollection($0) }).first { return collection }
        if name == .login { return Self.login }
        guard !found.locked.isEmpty, name != .session else { throw Self.missing }
        return KeychainCollection(name, label: name.text)
    }

    /// Throws errSecItemNotFound if there is no such collection.
    public func require(_ name: CollectionName) throws(KeychainError) {
        if name != .login { _ = try collection(name) }
    }

    /// Returns the number of the collection's passwords, also of locked ones; without those with an access control that
    /// needs the person.
    public func passwordCount(in name: CollectionName) throws(KeychainError) -> Int {
        var query = ItemQuery(
            nil, accessGroup: name.accessGroup.name, synchronizable: .any, limit: .all,
            authentication: Authentication(.skip))
        query.lookupAttributes = .empty
        return try records.count(of: query)
    }

    /// The collection that gets the items of clients that name none.
    public func defaultName() throws(KeychainError) -> CollectionName {
        let record = try records.all(.alias, Self.defaultAlias).records.first
        guard let name = record?[.label]?.text.flatMap({ CollectionName($0) }), name != .login else { return .login }
        do throws(KeychainError) {
            return try collection(name).name
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return .login
        }
    }

    // MARK: Changing

    /// Creates a collection with a name that resembles the label.
    ///
    /// - Throws: errSecDataTooLarge for more than ``maxCount`` collections, and for a label of more than
    ///   ``KeychainCollection/maxLabelLength`` bytes.
    public func create(label: String) throws(KeychainError) -> KeychainCollection {
        try KeychainCollection.checkLabel(label)
        let present = try all()
        guard present.count < Self.maxCount else { throw Self.tooMany }
        var used = Set(present.map(\.name))
        used.insert(.session)
        while let name = CollectionName.unused(for: label, isUsed: { used.contains($0) }) {
            do throws(KeychainError) {
                let record = try records.add(.collection, name.text, label: label)
                return KeychainCollection(name, label: label, created: record.created, modified: record.modified)
            } catch {
                // Another program has created one with this name, or the list does not show it.
                guard error.status == .duplicateItem else { throw error }
                used.insert(name)
            }
        }
        throw Self.tooMany
    }

    /// Gives a collection another label; its name stays.
    ///
    /// - Throws: errSecItemNotFound if there is no such collection, errSecDataTooLarge for a label of more than
    ///   ``KeychainCollection/maxLabelLength`` bytes.
    public func rename(_ name: CollectionName, to label: String) throws(KeychainError) {
        try KeychainCollection.checkLabel(label)
        try requireOwn(name)
        try require(name)
        try records.set(.collection, name.text, label: label)
    }

    /// - Throws: errSecItemNotFound if there is no such collection.
    public func setDefault(_ name: CollectionName) throws(KeychainError) {
        try requireOwn(name)
        try require(name)
        try records.set(.alias, Self.defaultAlias, label: name.text)
    }

    /// Deletes a collection with all its items. If that is interrupted, the collection is still there, with
    /// fewer items.
    ///
    /// - Returns: the number of items that were deleted.
    /// - Throws: errSecItemNotFound if there is no such collection, errSecUnimplemented for `login`,
    ///   errSecInteractionNotAllowed if the keychain is locked: items that are deleted unread may be missed.
    @discardableResult
    public func delete(_ name: CollectionName) throws(KeychainError) -> Int {
        try requireDeletable(name)
        guard try keychain.settledLockStatus().open.contains(.whenUnlocked) else { throw Self.locked }
        var count = 0
        for itemClass in [ItemClass.genericPassword, .internetPassword, .certificate, .key] {
            count += try keychain.delete(
                ItemQuery(itemClass, accessGroup: name.accessGroup.name, synchronizable: .any, limit: .all))
        }
        // Without a record, `login` is the default. A full disk has no space for another one.
        if try defaultName() == name { try records.delete(.alias, Self.defaultAlias) }
        // Last, because a group without its record is not found any more.
        try records.delete(.collection, name.text)
        return count
    }

    /// Throws the reason why a collection cannot be deleted, except for the lock.
    public func requireDeletable(_ name: CollectionName) throws(KeychainError) {
        guard name != .login else {
            throw KeychainError(.unimplemented, "the collection 'login' cannot be deleted; every keychain has it")
        }
        try require(name)
    }

    private func requireOwn(_ name: CollectionName) throws(KeychainError) {
        guard !name.isOfProgram else {
            throw KeychainError(
                .unimplemented,
                "the collection '\(name.text)' belongs to a program: it keeps its name, and is no default")
        }
    }

    private static let defaultAlias = "default"
    private static let login = KeychainCollection(.login, label: KeychainCollection.loginLabel)

    // MARK: Errors

    private static let missing = KeychainError(
        .itemNotFound, "there is no such collection", hint: "latchkey collection list")
    private static let tooMany = KeychainError(.dataTooLarge, "a keychain has at most \(maxCount) collections")
    private static let locked = KeychainError(
        .interactionNotAllowed, "the keychain is locked", hint: "latchkey unlock")
}
