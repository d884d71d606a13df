// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Searches for items.
package struct CopyItems: KeychainOperation {
    package let query: ItemQuery
    package let returning: ReturnTypes

    package init(_ query: ItemQuery, returning: ReturnTypes) {
        self.query = query
        self.returning = returning
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("copy", query, isDeferred: true) }

    package var reach: OperationReach { .searchList }

    package var nothing: FoundItems? { FoundItems(ItemMatches(records: [], damaged: 0)) }

    package func rest(after answer: FoundItems) -> CopyItems? {
        query.limit.rest(after: answer.auditedCount).map { limit in
            var query = query
            query.limit = limit
            return CopyItems(query, returning: returning)
        }
    }

    package var authentication: Authentication? { query.authentication }

    package func authenticated(by authentication: Authentication) -> CopyItems {
        var query = query
        query.authentication = authentication
        return CopyItems(query, returning: returning)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> FoundItems {
        try context.holdSearchPermit(for: query, readsSecrets: returning.contains(.data))
        let service = try context.service
        guard let max = context.maxResultSize else { return try found(by: service, in: context) }
        let outcome = ResultLimit.$current.withValue(max) {
            Result { () throws(KeychainError) in try found(by: service, in: context) }
        }
        return try outcome.get()
    }

    private func found(
        by service: EmbeddedService, in context: some OperationContext
    ) throws(KeychainError) -> FoundItems {
        guard query.limit == .all, context.sendsParts else {
            let found = try service.items.copyMatching(query, returning: returning, from: context.caller)
            return FoundItems(try allowed(found, in: context))
        }
        // Parts that were sent cannot be taken back: a keychain that may refuse an item, or begins anew because
        // it is unlocked during the search, is searched once before.
        if try service.lock.status().state != .unlocked {
            try service.items.copyMatching(
                query, returning: returning, from: context.caller, begin: {}, inParts: { _ in })
        }
        var parts = SentParts()
        try service.items.copyMatching(query, returning: returning, from: context.caller) {
            () throws(KeychainError) in
            try parts.begin(in: context)
        } inParts: { (part) throws(KeychainError) in
            try parts.send(try allowed(part, in: context), in: context)
        }
        return parts.last
    }

    /// Returns the matches as far as the caller may have them.
    private func allowed(_ found: ItemMatches, in context: some OperationContext) throws(KeychainError) -> ItemMatches {
        if returning.contains(.data), try context.mayNeedPasscode {
            try context.requireAccess(toSecretsIn: found.records.map(\.accessGroup))
        }
        // An answer in this process is not encoded.
        guard returning == .data, context.daemon != nil else { return found }
        // Nothing but the data is read from the result: encoding and decoding the attributes would be
        // most of the work for the response.
        var found = found
        found.records = found.records.map { record in
            var record = record
            (record.attributes, record.storedLookup) = ([:], nil)
            return record
        }
        return found
    }
}

/// The parts of a result that are sent while the search runs. One of them is always held back, because
/// the last one is the answer.
private struct SentParts {
    private(set) var last = FoundItems(ItemMatches(records: [], damaged: 0))

    mutating func begin(in context: some OperationContext) throws(KeychainError) {
        if last.sentBefore != nil { try context.restart() }
        last = FoundItems(ItemMatches(records: [], damaged: 0))
    }

    /// - Throws: errSecIO if the client has disconnected.
    mutating func send(_ part: ItemMatches, in context: some OperationContext) throws(KeychainError) {
        if !last.isEmpty {
            last = try last.drained { (part) throws(KeychainError) in
                guard context.send(part) else {
                    throw KeychainError(.io, "the client has disconnected during its search")
                }
            }
        }
        last.append(FoundItems(part))
    }
}

extension OperationContext {
    /// Limits the number of concurrent searches, because results are in memory before their size is
    /// known and until they are sent.
    func holdSearchPermit(for query: ItemQuery, readsSecrets: Bool) throws(KeychainError) {
        let isMultiItem = (query.limit ?? .one) != .one
        guard isMultiItem || readsSecrets else { return }
        guard let permit = acquire(isMultiItem ? .multiItemSearch : .search) else {
            throw KeychainError(
                .allocate, "too many large searches of this user are in progress",
                hint: "ask for fewer items at a time, or try again")
        }
        hold(permit)
    }
}

extension MatchLimit? {
    /// The limit for the next keychain after so many matches; nil if nothing is missing.
    func rest(after count: Int) -> MatchLimit? {
        switch self {
        case nil, .one: count == 0 ? .one : nil
        case .all: .all
        case .atMost(let max): count < Int(max) ? .atMost(max - UInt32(count)) : nil
        }
    }
}

extension AuditDetails {
    /// An operation on the items that match a query.
    init(_ name: String, _ query: ItemQuery, isDeferred: Bool = false) {
        self.init(
            name, itemClass: query.persistentReference?.itemClass ?? query.itemClass, group: query.accessGroup,
            isDeferred: isDeferred)
    }
}

/// The items that a search found, or a part of them.
package struct FoundItems: ResponseContent {
    package var matches: ItemMatches
    package var moreFollows: Bool
    /// The parts that were sent before, for the log; nil for nothing.
    fileprivate var sentBefore: Sent?

    /// Parts of a result: how many items they have, and the group of all of them.
    fileprivate struct Sent {
        let count: Int
        let group: AccessGroup?

        init(_ parts: FoundItems) { (count, group) = (parts.auditedCount, parts.auditedGroup) }

        init(_ first: Sent, _ second: Sent) {
            count = first.count + second.count
            group =
                first.count == 0 ? second.group : second.count == 0 || first.group == second.group ? first.group : nil
        }
    }

    package init(_ matches: ItemMatches, moreFollows: Bool = false) {
        self.matches = matches
        self.moreFollows = moreFollows
    }

    package mutating func append(_ part: FoundItems) {
        matches.records += part.matches.records
        matches.damaged += part.matches.damaged
        matches.locked += part.matches.locked
        moreFollows = part.moreFollows
        if let sent = part.sentBefore { sentBefore = sentBefore.map { Sent($0, sent) } ?? sent }
    }

    package var isEmpty: Bool {
        matches.isEmpty && matches.locked.isEmpty && sentBefore == nil
    }

    package var hasLocked: Bool { !matches.locked.isEmpty }

    package func drained(
        by send: (any ResponseContent) throws(KeychainError) -> Void
    ) throws(KeychainError) -> FoundItems {
        for var part in parts {
            part.moreFollows = true
            try send(part)
        }
        var rest = FoundItems(ItemMatches(records: [], damaged: 0))
        rest.sentBefore = Sent(self)
        return rest
    }

    package var weight: Int {
        matches.records.reduce(0) { $0 + $1.weightInMemory } + matches.locked.count &* LockedItem.weight
    }

    package func forEachPart(_ send: (any ResponseContent) throws(WireError) -> Void) throws(WireError) {
        for part in parts { try send(part) }
    }

    /// The same in parts, each small enough for one frame.
    private var parts: [FoundItems] {
        var parts: [FoundItems] = []
        var locked = ArraySlice(matches.locked)
        while !locked.isEmpty {
            let part = Array(locked.prefix(1000))
            parts.append(FoundItems(ItemMatches(records: [], damaged: 0, locked: part), moreFollows: true))
            locked = locked.dropFirst(1000)
        }
        let records = matches.records
        var (start, weight, secrets) = (0, 0, 0)
        for (index, record) in records.enumerated() {
            let own = record.weightInMemory
            if index > start,
                weight + own > ResponsePart.maxLength || secrets + record.secretCount > ResponsePart.maxSecrets
            {
                let part = ItemMatches(records: Array(records[start..<index]), damaged: 0)
                parts.append(FoundItems(part, moreFollows: true))
                (start, weight, secrets) = (index, 0, 0)
            }
            (weight, secrets) = (weight + own, secrets + record.secretCount)
        }
        parts.append(FoundItems(ItemMatches(records: Array(records[start...]), damaged: matches.damaged)))
        return parts
    }

    package var auditedCount: Int { (sentBefore?.count ?? 0) + matches.records.count }

    package var auditedGroup: AccessGroup? {
        let before = sentBefore.flatMap { $0.count > 0 ? $0 : nil }
        guard let first = before == nil ? matches.records.first?.accessGroup : before?.group else { return nil }
        return matches.records.allSatisfy { $0.accessGroup == first } ? first : nil
    }
}

extension ItemRecord {
    /// The approximate size of the record, in bytes.
    var weightInMemory: Int {
        var weight = 256 + addedBy.utf8.count + attributes.values.reduce(0) { $0 + 16 + $1.approximateSize }
        weight += (storedLookup?.encodedLength ?? 0) + (contentType?.text.utf8.count ?? 0)
        if let secrets { weight += (secrets.data?.count ?? 0) + secrets.attributes.values.reduce(0) { $0 + $1.count } }
        return weight
    }

    var secretCount: Int {
        guard let secrets else { return 0 }
        return (secrets.data == nil ? 0 : 1) + secrets.attributes.count
    }
}

extension LockedItem {
    /// The approximate size in memory, in bytes.
    fileprivate static let weight = 128
}

extension AttributeValue {
    fileprivate var approximateSize: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .number, .date: 8
        }
    }
}

extension OperationPerformer {
    /// Returns the matching items, in the order of addition.
    ///
    /// - Parameter returning: the requested values; secrets are decrypted only if data is among
    ///   them. Records for data alone may lack their attributes.
    /// - Throws: errSecInteractionNotAllowed if a matching item is locked, unless the query is for lookup
    ///   attributes; see ``ItemMatches/locked``.
    package func copyMatching(_ query: ItemQuery, returning: ReturnTypes) throws(KeychainError) -> ItemMatches {
        try perform(CopyItems(query, returning: returning)).matches
    }

    /// Passes the matching items to `take` in parts, in the order of addition, without asking the person: for a result
    /// that is larger than a process should hold.
    ///
    /// - Parameters:
    ///   - begin: called before the first part, and again if the search begins anew: then the parts
    ///     before do not count.
    ///   - take: must not use the keychain, because the keychain may be read meanwhile.
    /// - Throws: the errors of ``copyMatching(_:returning:)``, also after parts were passed on, and
    ///   those of `begin` and `take`.
    package func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, begin: () throws(KeychainError) -> Void,
        inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try begin()
        let last = try withoutActuallyEscaping(begin) { (begin) throws(KeychainError) in
            try withoutActuallyEscaping(take) { (take) throws(KeychainError) in
                let exchange = Exchange(
                    take: { (content) throws(KeychainError) in
                        guard let part = content as? FoundItems else { throw .unexpectedResponse }
                        try take(part.matches)
                    }, restart: begin)
                return try perform(CopyItems(query, returning: returning), exchange)
            }
        }
        try take(last.matches)
    }
}

// MARK: Coding

extension CopyItems {
    init(_ wire: WireCopyMatching) throws(WireError) { (query, returning) = try wire.decode() }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .copyMatching(WireCopyMatching(query, returning))
    }
}

extension WireCopyMatching {
    init(_ query: ItemQuery, _ returning: ReturnTypes) {
        self.init()
        self.query = WireQuery(query)
        self.returning = UInt32(returning.rawValue)
    }

    func decode() throws(WireError) -> (ItemQuery, ReturnTypes) {
        try requireKnown(self)
        let query = try query.decode()
        guard returning < 16 else { throw .malformed("unknown return types \(returning)") }
        return (query, ReturnTypes(rawValue: UInt8(truncatingIfNeeded: returning)))
    }
}

extension FoundItems {
    init(_ wire: WireRecords, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        var records: [ItemRecord] = []
        records.reserveCapacity(wire.records.count)
        for record in wire.records { records.append(try record.decode(&secrets)) }
        var locked: [LockedItem] = []
        locked.reserveCapacity(wire.locked.count)
        for item in wire.locked { locked.append(try item.decode()) }
        self.init(
            ItemMatches(records: records, damaged: try number(wire.damaged, "a number of rows"), locked: locked),
            moreFollows: wire.moreFollows)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireRecords()
        wire.records = matches.records.map { WireRecord($0, &secrets) }
        wire.damaged = UInt64(max(0, matches.damaged))
        wire.moreFollows = moreFollows
        wire.locked = matches.locked.map { WireLockedItem($0) }
        return .records(wire)
    }
}
