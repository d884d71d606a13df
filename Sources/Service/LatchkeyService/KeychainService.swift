// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The operations of a keychain, with every rule about who may do what. Synchronous and safe to call from any thread.
///
/// It is implemented in process by ``EmbeddedService``, and by the client of latchkeyd. Operations on trust settings join it later.
public protocol KeychainService: KeychainAdministration, KeychainKeys {
    /// Stores a new item.
    ///
    /// - Returns: the item as it was stored, with its secrets.
    func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord

    /// Stores identities in one transaction: all of them, or nothing. Of each, one half may be there already, and stays as it is.
    ///
    /// - Returns: how many items were stored.
    /// - Throws: errSecDuplicateItem where both halves of an identity are there; errSecParam for more than ``IdentityAddition/maxCount``, or
    ///   where a half is of another class; what ``add(_:from:)`` throws for either half.
    func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Finds items, in the order in which they were added.
    ///
    /// - Parameter returning: what is asked for; secrets are opened only for data.
    /// - Throws: `KeychainError.itemNotFound` where nothing matches and nothing damaged was passed over; see ``ItemMatches/damaged``.
    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches

    /// Changes every matching item, all or none.
    ///
    /// - Returns: how many there were, never 0.
    @discardableResult
    func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Deletes every matching item.
    ///
    /// - Returns: how many there were, never 0.
    @discardableResult
    func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Where the keychain is, what protects it and what it holds.
    func status() throws(KeychainError) -> KeychainStatus

    /// Looks at permissions, tables, every row and the free space.
    ///
    /// - Parameter progress: called with the number of rows looked at.
    func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding]

    /// Sets right what ``check(progress:)`` found in the rows.
    ///
    /// - Parameters:
    ///   - dryRun: only counts.
    ///   - progress: called with the number of rows looked at.
    /// - Returns: how many rows were, or would be, moved or deleted.
    func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int

    /// Moves what was deleted and replaced out of the files.
    func checkpoint() throws(KeychainError)

    /// What the keychain sees of its caller, and which groups the caller has.
    func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport

    /// The lines of the audit log with a number above `sequence`, in parts.
    ///
    /// - Parameters:
    ///   - since: only those of this time and later, in seconds since 1970.
    ///   - body: called with each part; it answers false to stop.
    /// - Returns: the number of the last line there is.
    /// - Throws: errSecNotAvailable where no log is kept.
    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64

    /// Looks whether the audit log is what was written.
    ///
    /// - Throws: errSecNotAvailable where no log is kept.
    func verifyAudit() throws(KeychainError) -> AuditVerification

    /// Ends the use of the keychain in good order.
    func close()
}

/// What a query found.
public struct ItemMatches: Sendable {
    public var records: [ItemRecord]
    /// How many rows were passed over because they are not what was written. `SecItem` is silent about them; `Latchkey` and `doctor` are not.
    public var damaged: Int

    public init(records: [ItemRecord], damaged: Int) {
        self.records = records
        self.damaged = damaged
    }
}
