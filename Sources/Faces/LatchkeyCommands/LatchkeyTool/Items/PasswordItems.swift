// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The passwords of the keychain, as the daily commands use them.
struct PasswordItems {
    let session: CommandSession
    private let keychain: KeychainSession
    private let person: PersonPrompt?

    /// - Parameter person: how the person is asked; nil for the items of a list, because a list does not ask.
    init(_ session: CommandSession, _ person: PersonPrompt? = nil) throws(CommandFailure) {
        self.session = session
        self.person = person
        keychain = try session.keychain()
    }

    /// Returns the attributes of the one selected item. If no access group is named, an item of the group for new items
    /// comes before the items of other programs.
    ///
    /// - Throws: errSecItemNotFound if there is none, errSecParam if there are several.
    func one(_ selection: ItemSelection) throws(CommandFailure) -> ItemRecord {
        let limit = selection.limit(Self.maxShown)
        let ownGroup = selection.accessGroup ?? AccessGroup.shared.name
        for step in selection.steps {
            var found = try matches(step, of: selection, limit: limit, in: ownGroup)
            // A damaged item of this group is not replaced by one of another program.
            if found.isEmpty, selection.accessGroup == nil {
                found = try matches(step, of: selection, limit: limit)
            }
            guard !found.isEmpty else { continue }
            try requireFound(found, selection)
            guard found.records.count == 1, let record = found.records.first else {
                throw Self.ambiguous(found.records, selection, hint: "name one of them")
            }
            return record
        }
        throw Self.notFound(selection)
    }

    /// Returns the attributes of every selected item, in any group and by any step. Other items with the name are never
    /// skipped.
    ///
    /// - Parameter takesSeveral: whether more than one may be selected, all of one class.
    /// - Throws: errSecItemNotFound if there is none, errSecParam if there are several.
    func all(_ selection: ItemSelection, takesSeveral: Bool) throws(CommandFailure) -> [ItemRecord] {
        let limit = takesSeveral ? .all : selection.limit(Self.maxShown)
        let found = try matches(selection.steps.map(\.target), of: selection, limit: limit)
        try requireFound(found, selection)
        guard found.records.count == 1 || takesSeveral else {
            throw Self.ambiguous(found.records, selection, hint: "--all selects all of them; name one of them")
        }
        guard Set(found.records.map(\.itemClass)).count == 1 else {
            throw Self.ambiguous(found.records, selection, hint: "--class selects those of one class")
        }
        return found.records
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
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.delete(item) > 0 }
    }

    /// - Returns: whether the item was moved; false if it was deleted meanwhile.
    /// - Throws: errSecDuplicateItem if the group has an item with the same key.
    func move(_ record: ItemRecord, to accessGroup: String) throws(CommandFailure) -> Bool {
        // With its group: moving items of other programs needs the passcode.
        let item = ItemQuery(
            record.itemClass, accessGroup: record.accessGroup.name, synchronizable: .any,
            persistentReference: record.persistentReference)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try keychain.update(item, with: ItemUpdate(accessGroup: accessGroup)) > 0
        }
    }

    /// Returns the items of every class that an executable has added to a group.
    ///
    /// - Throws: errSecItemNotFound if there is none.
    func all(addedBy executable: String, to accessGroup: String) throws(CommandFailure) -> [ItemRecord] {
        var found: [ItemRecord] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword, .certificate, .key] {
            let query = ItemQuery(itemClass, accessGroup: accessGroup, synchronizable: .any, limit: .all)
            found += try matches(query).records.filter { $0.addedBy == executable }
        }
        guard !found.isEmpty else {
            throw .status(
                KeychainError(
                    .itemNotFound, "'\(executable)' has added no item to \(accessGroup)",
                    hint: "name the executable by its whole path; latchkey list shows the passwords of every group"))
        }
        return found
    }

    /// Adds an item, or updates the one with the same key.
    func store(
        _ secret: SharedSecret, as addition: PasswordAddition, replaces: Bool
    ) throws(CommandFailure) -> StoredRecord {
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

    /// Returns the matches of a step, with its rivals if it finds an item. No rival stands for a damaged item.
    private func matches(
        _ step: ItemSelection.Step, of selection: ItemSelection, limit: MatchLimit, in accessGroup: String? = nil
    ) throws(CommandFailure) -> ItemMatches {
        let found = try matches([step.target], of: selection, limit: limit, in: accessGroup)
        guard !found.records.isEmpty, !step.rivals.isEmpty else { return found }
        let rivals = try matches(step.rivals, of: selection, limit: limit, in: accessGroup)
        return ItemMatches(records: found.records + rivals.records, damaged: found.damaged + rivals.damaged)
    }

    /// Returns the matches of a selection's targets.
    ///
    /// - Parameter accessGroup: the group that is searched; nil for that of the selection.
    private func matches(
        _ targets: [ItemTarget], of selection: ItemSelection, limit: MatchLimit, in accessGroup: String? = nil
    ) throws(CommandFailure) -> ItemMatches {
        var all = ItemMatches(records: [], damaged: 0)
        for target in targets {
            var query = target.query(limit: limit)
            if let accessGroup { query.accessGroup = accessGroup }
            let found = try matches(query)
            all.records += found.records.filter(selection.includes)
            all.damaged += found.damaged
        }
        return all
    }

    private func matches(_ query: ItemQuery, returning: ReturnTypes = .attributes) throws(CommandFailure) -> ItemMatches
    {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try PasswordSearch.matches(
                query, returning: returning.union(.persistentReference), in: keychain, for: person)
        }
    }

    private func requireFound(_ found: ItemMatches, _ selection: ItemSelection) throws(CommandFailure) {
        guard found.records.isEmpty else { return }
        guard found.damaged == 0 else { throw Self.damaged("the item '\(selection.text)'") }
        throw Self.notFound(selection)
    }

    private static func notFound(_ selection: ItemSelection) -> CommandFailure {
        .status(
            KeychainError(
                .itemNotFound, "the item '\(selection.text)' could not be found",
                hint: selection.hasSlashes
                    ? "the account is after the last slash of a name; latchkey list shows the items"
                    : "latchkey list shows the items"))
    }

    private static func damaged(_ what: String) -> CommandFailure {
        .status(
            KeychainError(
                .decode, "\(what) is damaged",
                hint: "latchkey doctor shows the damage; latchkey set --update replaces the item"))
    }

    private static func ambiguous(_ records: [ItemRecord], _ selection: ItemSelection, hint: String) -> CommandFailure {
        let isMore = records.count > maxShown
        let names = records.prefix(maxShown).map { describe($0, among: records) }.joined(separator: ", ")
        let hasServers = records.contains { $0.itemClass == .internetPassword }
        let options = hasServers ? ", --protocol, --port and --path tell" : " tells"
        return .parameter(
            "\(isMore ? "more than \(maxShown)" : "\(records.count)") items match '\(selection.text)'",
            hint: "\(hint); --access-group\(options) equal names apart: \(names)\(isMore ? ", …" : "")")
    }

    /// Returns the words that select the item and none of the others, except for its access group and the options that
    /// the hint names.
    private static func describe(_ record: ItemRecord, among records: [ItemRecord]) -> String {
        let report = ItemReport(record)
        var text = record.passwordName.exactText.shellQuoted
        let hasTwin = records.contains {
            $0.passwordName == record.passwordName && $0.isNamedByLabel != record.isNamedByLabel
        }
        if hasTwin {
            let service = (report.server ?? report.service ?? "").shellQuoted
            let own = report.server == nil ? "--service \(service)" : "--server \(service)"
            let label = report.label.flatMap { record.isNamedByLabel ? " --label \($0.shellQuoted)" : nil } ?? ""
            text = "\(own)\(label) --account \(report.account.shellQuoted)"
        } else if records.contains(where: { $0.itemClass != record.itemClass }) {
            text += " --class \(report.passwordClass)"
        }
        let port = report.port.map { " at port \($0)" } ?? ""
        return "\(text)\(port) in \(report.accessGroup)"
    }

    private static let maxShown = 5
}
