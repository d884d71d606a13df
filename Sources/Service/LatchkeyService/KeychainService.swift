// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The operations of a keychain, including every access rule. Synchronous, and safe to call from
/// any thread.
///
/// ``EmbeddedService`` implements them in process, and the client of latchkeyd over the wire.
/// Operations on trust settings will be added later.
public protocol KeychainService: KeychainAdministration, KeychainAuthentication, KeychainSecurityKeys, KeychainKeys,
    KeychainChanges, KeychainFiles, KeychainStoredFiles
{
    /// Stores a new item; or, if the addition replaces, changes the one item that has exactly the same
    /// lookup attributes, or that has the primary key which follows from them and no lookup attributes of
    /// its own.
    ///
    /// - Returns: the item as stored, with its secrets.
    func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord

    /// Stores identities in one transaction: all of them, or none. One half of an identity may
    /// exist already; it is not changed.
    ///
    /// - Returns: how many items were stored.
    /// - Throws: errSecDuplicateItem if both halves of an identity exist; errSecParam for more than
    ///   ``IdentityAddition/maxCount`` identities, or if a half has the wrong class; the errors of
    ///   ``add(_:from:)`` for either half.
    func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Returns the matching items, in the order in which they were added.
    ///
    /// - Parameter returning: the requested values; secrets are decrypted only if data is among
    ///   them. Records for data alone may lack their attributes.
    /// - Throws: `KeychainError.itemNotFound` if nothing matches and no damaged row was skipped;
    ///   see ``ItemMatches/damaged``. errSecInteractionNotAllowed if a matching item is locked, unless the
    ///   query is for lookup attributes; see ``ItemMatches/locked``.
    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches

    /// Passes the matching items to `take` in parts, in the order in which they were added: for a result
    /// that is larger than a process should hold.
    ///
    /// - Parameters:
    ///   - begin: called before the first part, and again if the search begins anew: then the parts
    ///     before do not count.
    ///   - take: must not use the keychain, which may be read meanwhile.
    /// - Throws: the errors of ``copyMatching(_:returning:from:)``, also after parts were passed on, and
    ///   those of `begin` and `take`.
    func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        begin: () throws(KeychainError) -> Void, inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError)

    /// Returns the matching identities, each as the pair that was joined, in the order in which the
    /// certificates were added.
    ///
    /// - Parameter returning: the requested values. A reference needs the data of the certificate
    ///   and the public key; data is that of the key, and, together with other values, also that of
    ///   the certificate.
    /// - Throws: errSecParam if the query is for another class; `KeychainError.itemNotFound`;
    ///   errSecUnimplemented if only data was requested, and no key is extractable.
    func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord]

    /// Changes every matching item: all of them, or none.
    ///
    /// - Returns: how many items matched, never 0.
    @discardableResult
    func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Deletes every matching item.
    ///
    /// - Returns: how many items matched, never 0.
    @discardableResult
    func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int

    /// Returns where the keychain is stored, what protects it, and how many items it holds.
    func status() throws(KeychainError) -> KeychainStatus

    /// Checks permissions, tables, every row and the free space.
    ///
    /// - Parameter progress: called with the number of rows checked.
    func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding]

    /// Repairs the damaged rows that ``check(progress:)`` reports.
    ///
    /// - Parameters:
    ///   - dryRun: only counts.
    ///   - progress: called with the number of rows checked.
    /// - Returns: how many rows were, or would be, moved or deleted.
    func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int

    /// Removes deleted and replaced data from the files.
    func checkpoint() throws(KeychainError)

    /// Returns what the keychain knows about its caller, and the caller's access groups.
    func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport

    /// Passes the lines of the audit log with a number above `sequence` to `body`, in parts.
    ///
    /// - Parameters:
    ///   - since: only lines of this time and later, in seconds since 1970.
    ///   - body: called with each part; it returns false to stop.
    /// - Returns: the number of the last line of the log.
    /// - Throws: errSecNotAvailable if no log is kept.
    func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError) -> UInt64

    /// Checks the codes of the audit log, to detect changed or missing lines.
    ///
    /// - Throws: errSecNotAvailable if no log is kept.
    func verifyAudit() throws(KeychainError) -> AuditVerification

    /// Closes the keychain.
    func close()
}

/// The result of a query.
public struct ItemMatches: Sendable {
    public var records: [ItemRecord]
    /// The number of rows that were skipped because they are damaged. `SecItem` does not report
    /// them; `Latchkey` and `doctor` do.
    public var damaged: Int
    /// Matching items of closed classes, if the query is for lookup attributes.
    public var locked: [LockedItem]

    public init(records: [ItemRecord], damaged: Int, locked: [LockedItem] = []) {
        self.records = records
        self.damaged = damaged
        self.locked = locked
    }

    /// Whether nothing was found, not even a damaged item.
    public var isEmpty: Bool { records.isEmpty && damaged == 0 }
}

extension KeychainService {
    /// Passes all items in one part.
    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity,
        begin: () throws(KeychainError) -> Void, inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let found = try copyMatching(query, returning: returning, from: caller)
        try begin()
        try take(found)
    }
}
