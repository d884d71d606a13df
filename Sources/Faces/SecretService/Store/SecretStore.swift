// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The storage of the Secret Service: collections of items with attributes. Synchronous, and safe to call from any
/// thread.
///
/// It knows neither D-Bus nor sessions: ``SecretServer`` converts its calls and its values. A change
/// that a call makes is reported to the observers as well.
public protocol SecretStore: Sendable {
    // MARK: Collections

    func collections() throws(SecretStoreError) -> [SecretCollection]

    /// - Throws: ``SecretStoreError/notFound`` if there is no such collection.
    func collection(_ name: CollectionName) throws(SecretStoreError) -> SecretCollection

    /// Creates a collection. The store chooses a name that resembles the label.
    func createCollection(label: String) throws(SecretStoreError) -> SecretCollection

    func setLabel(_ label: String, of collection: CollectionName) throws(SecretStoreError)

    /// Deletes a collection with its items.
    ///
    /// - Throws: ``SecretStoreError/notSupported(_:)`` for a collection that always exists.
    func deleteCollection(_ name: CollectionName) throws(SecretStoreError)

    /// The collection that the alias `default` names.
    func defaultCollection() throws(SecretStoreError) -> CollectionName

    func setDefaultCollection(_ name: CollectionName) throws(SecretStoreError)

    // MARK: Items

    /// Returns the identifiers of all items, also of locked ones.
    func items(in collection: CollectionName) throws(SecretStoreError) -> [SecretItemID]

    /// Returns at most this number of the items, in no particular order.
    func items(in collection: CollectionName, limit: Int) throws(SecretStoreError) -> [SecretItem]

    /// Returns the items that have all of the attributes; locked ones too, as far as the store finds
    /// them while they are locked.
    ///
    /// - Parameter collection: nil for all collections.
    func search(_ attributes: SecretAttributes, in collection: CollectionName?) throws(SecretStoreError) -> [FoundItem]

    /// Returns an item without its secret. Of a locked item, there is no metadata.
    func item(_ reference: ItemReference) throws(SecretStoreError) -> SecretItem

    /// - Throws: ``SecretStoreError/locked``.
    func secret(of reference: ItemReference) throws(SecretStoreError) -> SecretValue

    /// Adds an item.
    ///
    /// - Parameter replacing: whether an item with exactly these attributes is replaced; otherwise
    ///   there are two.
    func add(
        _ item: NewSecretItem, replacing: Bool, to collection: CollectionName
    ) throws(SecretStoreError) -> AddedItem

    func update(_ reference: ItemReference, with update: SecretItemUpdate) throws(SecretStoreError)

    func deleteItem(_ reference: ItemReference) throws(SecretStoreError)

    // MARK: Reads that belong together

    /// Runs `body` so that its reads on this thread see one state of the store, as far as it has states. `body` may run
    /// twice, and must only read.
    func reading<Value>(_ body: () throws(SecretStoreError) -> Value) throws(SecretStoreError) -> Value

    /// Runs `body` like ``reading(_:)``, if its reads take less than a millisecond and wait for nothing.
    ///
    /// - Returns: nil if they take longer, and after an error; then `body` may have run in part.
    func readingAtOnce<Value>(_ body: () throws(SecretStoreError) -> Value) -> Value?

    // MARK: The lock

    /// Returns the domain of the collections with the same lock.
    func lockDomain(of collection: CollectionName) throws(SecretStoreError) -> LockDomain

    /// Locks the collection, and the others of its domain. Has no effect without a passcode.
    func lock(_ collection: CollectionName) throws(SecretStoreError)

    /// - Throws: ``SecretStoreError/wrongPasscode(_:)``.
    func unlock(_ collection: CollectionName, with passcode: SharedSecret) throws(SecretStoreError)

    /// - Parameter old: nil if no passcode is set.
    func changePasscode(
        of collection: CollectionName, from old: SharedSecret?, to new: SharedSecret
    ) throws(SecretStoreError)

    // MARK: Changes

    /// Calls `body` after changes, on any thread, until the returned object is released. It must not
    /// block.
    func observe(_ body: @escaping @Sendable (SecretStoreChange) -> Void) throws(SecretStoreError) -> any Sendable
}

extension SecretStore {
    public func reading<Value>(_ body: () throws(SecretStoreError) -> Value) throws(SecretStoreError) -> Value {
        try body()
    }

    public func readingAtOnce<Value>(_ body: () throws(SecretStoreError) -> Value) -> Value? { nil }
}

/// Collections that are locked and unlocked together: those of one keychain.
public struct LockDomain: Hashable, Sendable {
    public let name: String

    public init(_ name: String) { self.name = name }
}

/// The report of a change to an observer of a store. Several changes can be one report.
public enum SecretStoreChange: Hashable, Sendable {
    /// Items or collections may have changed, perhaps by another program.
    case contents
    /// The lock of a domain may have changed.
    case lock(LockDomain)
}

/// The secrets that a portal gives to sandboxed applications.
public protocol ApplicationSecretStore: Sendable {
    /// Returns the secret of an application. The first call makes it.
    ///
    /// - Throws: ``SecretStoreError/locked``.
    func secret(of application: ApplicationID) throws(SecretStoreError) -> SharedSecret
}

extension ApplicationSecretStore {
    /// The length of a secret in bytes.
    public static var secretByteCount: Int { 64 }
}
