// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The passwords of the keychain, as the daily commands use them.
struct PasswordItems {
    let session: CommandSession
    private let keychain: KeychainSession
    private let person: PersonPrompt?

    /// - Parameter person: how the person is asked; nil for the items of a list, which does not ask.
    init(_ session: CommandSession, _ person: PersonPrompt? = nil) throws(CommandFailure) {
        self.session = session
        self.person = person
        keychain = try session.keychain()
    }

    /// Returns the attributes of the one item that the target selects. If no access group is named,
    /// an item of the group in which new items are stored comes before the items of other programs.
    ///
    /// - Throws: errSecItemNotFound if there is none, errSecParam if there are several.
    func one(_ target: ItemTarget) throws(CommandFailure) -> ItemRecord {
        var own = target.query(limit: Self.sampleLimit)
        own.accessGroup = target.group
        var found = try matches(own)
        // A damaged item of this group is not replaced by one of another program.
        if found.records.isEmpty, found.damaged == 0, target.accessGroup == nil {
            found = try matches(target.query(limit: Self.sampleLimit))
        }
        try requireFound(found, target)
        guard found.records.count == 1, let record = found.records.first else {
            throw Self.ambiguous(found.records, target, hint: "name one of them")
        }
        return record
    }

    /// Returns the attributes of every item that the target selects, in any group.
    ///
    /// - Parameter takesSeveral: whether more than one may be selected.
    /// - Throws: errSecItemNotFound if there is none, errSecParam if there are several.
    func all(_ target: ItemTarget, takesSeveral: Bool) throws(CommandFailure) -> [ItemRecord] {
        let found = try matches(target.query(limit: takesSeveral ? .all : Self.sampleLimit))
        try requireFound(found, target)
        guard found.records.count == 1 || takesSeveral else {
            throw Self.ambiguous(found.records, target, hint: "--all selects all of them; name one of them")
        }
        return found.records
    }

    /// Returns the item that a new one would replace; nil if there is none.
    func existing(_ target: ItemTarget) throws(CommandFailure) -> ItemRecord? {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try PasswordSearch.existing(target.keyQuery, returning: .attributes, in: keychain, for: person)
        }
    }

    /// Returns an item that was stored just now. If it needs the person, who is not asked again,
    /// returns `known`.
    func stored(_ target: ItemTarget, otherwise known: ItemRecord?) throws(CommandFailure) -> ItemRecord? {
        do throws(KeychainError) {
            var query = target.keyQuery
            query.authentication.interaction = .fail
            return try PasswordSearch.existing(query, returning: .attributes, in: keychain)
        } catch {
            guard error.authentication == .failed(.notInteractive) else { throw .status(error) }
            return known
        }
    }

    /// Returns the secret of an item; empty if the item has none.
    func secret(of record: ItemRecord) throws(CommandFailure) -> SharedSecret {
        let item = ItemQuery(
            record.itemClass, synchronizable: .any, persistentReference: record.persistentReference, limit: .one)
        let found = try matches(item, returning: .data)
        guard let secret = found.records.first?.secrets else {
            guard found.damaged == 0 else { throw Self.damaged("the secret of '\(record.passwordName.text)'") }
            throw .status(KeychainError(.itemNotFound, "'\(record.passwordName.text)' was deleted meanwhile"))
        }
        return secret.data ?? SharedSecret(copying: [])
    }

    /// - Returns: whether the item was deleted; false if it was gone already.
    func delete(_ record: ItemRecord) throws(CommandFailure) -> Bool {
        let item = ItemQuery(
            record.itemClass, synchronizable: .any, persistentReference: record.persistentReference)
        do throws(KeychainError) {
            _ = try keychain.delete(item)
            return true
        } catch {
            guard error.status == .itemNotFound else { throw .status(error) }
            return false
        }
    }

    /// Adds an item, or updates the one with the same key.
    ///
    /// - Returns: the item if it was added; nil if it was updated.
    func store(
        _ secret: SharedSecret, as addition: PasswordAddition, replaces: Bool
    ) throws(CommandFailure) -> ItemRecord? {
        try addition.store(secret, in: keychain, replaces: replaces, for: person)
    }

    /// Passes every item that a query finds to `take`, without those that `search` leaves out.
    func forEachUnlocked<State>(
        _ query: ItemQuery, with search: inout UnlockedSearch, into state: inout State,
        _ take: (ItemMatches, inout State) -> Void
    ) throws(CommandFailure) {
        do throws(KeychainError) {
            try search.forEachPart(of: query, .attributes, in: keychain, into: &state, take)
        } catch {
            throw .status(error)
        }
    }

    // MARK: Searching

    private func matches(_ query: ItemQuery, returning: ReturnTypes = .attributes) throws(CommandFailure) -> ItemMatches
    {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try PasswordSearch.matches(
                query, returning: returning.union(.persistentReference), in: keychain, for: person)
        }
    }

    private func requireFound(_ found: ItemMatches, _ target: ItemTarget) throws(CommandFailure) {
        guard found.records.isEmpty else { return }
        guard found.damaged == 0 else { throw Self.damaged("the item '\(target.text)'") }
        throw .status(
            KeychainError(
                .itemNotFound, "the item '\(target.text)' could not be found", hint: "latchkey list shows the items"))
    }

    private static func damaged(_ what: String) -> CommandFailure {
        .status(
            KeychainError(
                .decode, "\(what) is damaged",
                hint: "latchkey doctor shows the damage; latchkey set --update replaces the item"))
    }

    private static func ambiguous(_ records: [ItemRecord], _ target: ItemTarget, hint: String) -> CommandFailure {
        let isMore = records.count > maxShown
        let names = records.prefix(maxShown).map(describe).joined(separator: ", ")
        let options = target.itemClass == .internetPassword ? ", --protocol, --port and --path tell" : " tells"
        return .parameter(
            "\(isMore ? "more than \(maxShown)" : "\(records.count)") items match '\(target.text)'",
            hint: "\(hint); --access-group\(options) equal names apart: \(names)\(isMore ? ", …" : "")")
    }

    private static func describe(_ record: ItemRecord) -> String {
        let report = ItemReport(record)
        let port = report.port.map { " at port \($0)" } ?? ""
        return "\(report.name)\(port) in \(report.accessGroup)"
    }

    private static let maxShown = 5
    /// Enough to know whether there are more than are shown.
    private static let sampleLimit = MatchLimit.atMost(UInt32(maxShown + 1))
}

extension ItemRecord {
    /// The name of a password on the command line.
    var passwordName: ItemName {
        let service: ItemAttribute = itemClass == .internetPassword ? .server : .service
        return ItemName(
            service: self[service]?.canonicalBytes ?? [], account: self[.account]?.canonicalBytes ?? [])
    }
}
