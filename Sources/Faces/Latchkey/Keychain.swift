// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
public import SecretMemory

/// The keychain, with types instead of dictionaries.
///
/// ```swift
/// let keychain = Keychain.default
/// try keychain.set(GenericPassword(service: "example.com", account: "alice"), to: "s3cret")
/// let secret = try keychain.string(for: GenericPassword(service: "example.com", account: "alice"))
/// ```
///
/// Every call throws ``KeychainError``: `catch KeychainError.itemNotFound`. A damaged item is
/// reported as `KeychainError.decode`, never as "not found".
///
/// The calls are synchronous and block: on the disk, on other programs that write, or on latchkeyd.
/// ``async`` has the same calls for tasks.
public struct Keychain: Sendable {
    let open: @Sendable () throws(KeychainError) -> KeychainSession
    /// The access group of new items and of searches; nil for the default of the program.
    private(set) var accessGroup: String?
    /// How the calls satisfy access controls.
    private(set) var authentication: AuthenticationChoice
    /// Whether the keys of files stay in the service.
    private(set) var withholdsFileKeys = false

    init(
        accessGroup: String?, open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) {
        self.accessGroup = accessGroup
        authentication = .asking
        self.open = open
    }

    func with(_ authentication: AuthenticationChoice) -> Keychain {
        var changed = self
        changed.authentication = authentication
        return changed
    }

    /// The user's keychain: the one that `import Security` and the command `security` use.
    public static let `default` = Keychain(accessGroup: nil) { () throws(KeychainError) in try KeychainClient.session()
    }

    /// Returns an empty keychain in memory, for tests. Only the copies of this value have access to
    /// it; it ends with the last copy.
    public static func ephemeral() throws(KeychainError) -> Keychain {
        let service = try EmbeddedService(inMemory: .system)
        return Keychain(accessGroup: nil) { () throws(KeychainError) in
            KeychainSession(service, as: KeychainClient.caller)
        }
    }

    /// Returns the same keychain, limited to one access group.
    public func inAccessGroup(_ name: String) -> Keychain {
        var changed = self
        changed.accessGroup = name
        return changed
    }

    /// Returns the same keychain; its service keeps the keys of protected files, and encrypts and decrypts the parts of
    /// the files itself. Each part costs a message; a program that is taken over gives away no key that opens the file
    /// later.
    ///
    /// Also files of the class ``FileProtectionClass/completeUnlessOpen`` can then be read and written
    /// only while the keychain is unlocked.
    public func withFileKeysInService() -> Keychain {
        var changed = self
        changed.withholdsFileKeys = true
        return changed
    }

    // MARK: Secrets

    /// Stores the secret under this item. If the item exists, it is updated, and attributes that
    /// `item` does not name keep their values.
    public func set(_ item: some PasswordItem, to secret: some SecretConvertible) throws(KeychainError) {
        let bytes = secret.sharedSecret()
        try item.named { () throws(KeychainError) in try store(bytes, under: item) }
    }

    private func store(_ bytes: SharedSecret, under item: some PasswordItem) throws(KeychainError) {
        let keychain = try open()
        var addition = item.addition(data: bytes)
        addition.accessGroup = accessGroup
        addition.authentication = try authentication.values()
        // One item: the first found in the program's access groups, not equal items in other groups.
        _ = try keychain.store(addition, inPlaceOf: query(for: item), with: item.update(data: bytes))
    }

    /// Stores a new item.
    ///
    /// - Throws: `KeychainError.duplicateItem` if the item exists.
    public func add(_ item: some PasswordItem, secret: some SecretConvertible) throws(KeychainError) {
        let bytes = secret.sharedSecret()
        try item.named { () throws(KeychainError) in try add(item, secret: bytes, to: try open()) }
    }

    /// Returns the item's secret as ``SecretBytes``, in secret memory.
    ///
    /// - Throws: `KeychainError.itemNotFound`; `KeychainError.decode` if the item is damaged.
    public func secret(for item: some PasswordItem) throws(KeychainError) -> SecretBytes {
        try sharedSecret(for: item).copy()
    }

    /// Returns the item's secret as text.
    ///
    /// - Throws: `KeychainError.itemNotFound`; `KeychainError.decode` if the secret is not UTF-8 or
    ///   the item is damaged.
    public func string(for item: some PasswordItem) throws(KeychainError) -> String {
        let secret = try sharedSecret(for: item)
        return try item.named { () throws(KeychainError) in try secret.text() }
    }

    /// Returns the item's secret as Data.
    public func data(for item: some PasswordItem) throws(KeychainError) -> Data {
        // EXPOSE: the caller asked for the secret as Data.
        try sharedSecret(for: item).withUnsafeBytes { Data($0) }
    }

    // MARK: Items

    /// Returns whether the item exists. The person is not asked.
    public func contains(_ item: some PasswordItem) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            var silent = query(for: item)
            silent.authentication = try authentication.values()
            silent.authentication.interaction = .fail
            return try !matches(silent, returning: .attributes).isEmpty
        } catch {
            // Only an item that exists has an access control.
            guard error.authentication == .failed(.notInteractive) else { throw error }
            return true
        }
    }

    /// Returns every item of this type that satisfies the condition, without secrets, in the order
    /// of addition. If some of them have an access control, the person is asked once;
    /// ``withoutPrompts()`` leaves them out.
    ///
    /// - Throws: `KeychainError.decode` if some of the items are damaged; no item is omitted
    ///   silently.
    public func items<Item: PasswordItem>(_ type: Item.Type, matching condition: Item.Condition = .init())
        throws(KeychainError) -> [Item]
    {
        var query = ItemQuery(
            Item.itemClass, attributes: condition.attributes, accessGroup: accessGroup, synchronizable: .any,
            limit: .all, authentication: try authentication.values())
        if case .silent = authentication { query.authentication.interaction = .skip }
        return try matches(query, returning: .attributes, toleratesDamage: false).map { Item(record: $0) }
    }

    /// Deletes the item.
    ///
    /// - Throws: `KeychainError.itemNotFound`.
    public func delete(_ item: some PasswordItem) throws(KeychainError) {
        try item.named { () throws(KeychainError) in
            guard try open().delete(query(for: item)) > 0 else { throw .itemNotFound }
        }
    }

    /// Checks every row and returns the findings about damaged ones; empty for a healthy keychain.
    public func findings() throws(KeychainError) -> [KeychainFinding] {
        try open().check { _ in }.filter { !$0.isHealthy }
    }

    // MARK: Helpers

    private func add(_ item: some PasswordItem, secret: SharedSecret, to keychain: KeychainSession)
        throws(KeychainError)
    {
        var addition = item.addition(data: secret)
        addition.accessGroup = accessGroup
        addition.authentication = try authentication.values()
        _ = try keychain.add(addition)
    }

    func sharedSecret(for item: some PasswordItem) throws(KeychainError) -> SharedSecret {
        try item.named { () throws(KeychainError) in
            var query = query(for: item)
            query.authentication = try authentication.values()
            guard let record = try matches(query, returning: .data).first else { throw .itemNotFound }
            return record.secrets?.data ?? SharedSecret(copying: [])
        }
    }

    func query(for item: some PasswordItem) -> ItemQuery {
        var query = item.query
        query.accessGroup = accessGroup
        return query
    }

    /// - Parameter toleratesDamage: whether damaged rows are ignored if a healthy item matches. A
    ///   list does not ignore any.
    private func matches(
        _ query: ItemQuery, returning: ReturnTypes, toleratesDamage: Bool = true
    ) throws(KeychainError) -> [ItemRecord] {
        let matches = try open().copyMatching(query, returning: returning)
        guard matches.damaged == 0 || (toleratesDamage && !matches.records.isEmpty) else {
            throw KeychainError(
                .decode, "\(matches.damaged) matching item(s) are damaged",
                hint: "run latchkey doctor to list them; storing them again replaces them")
        }
        return matches.records
    }
}
