// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import SecretMemory

/// The rows that a call selects, restricted to the access groups of the caller. A row matches if
/// all conditions are true.
public struct ItemSearch: Sendable {
    public var itemClass: ItemClass
    public var groups: Groups
    /// The required values of attributes. Indexed attributes are searched by token, the others are
    /// compared after the row is opened.
    public var attributes: [ItemAttribute: AttributeValue]
    public var synchronizable: SynchronizableScope
    public var identifier: ItemIdentifier?
    public var includesTombstones: Bool
    /// The order of the items of several groups.
    public var groupOrder = GroupOrder.addition
    /// Selects only items that this executable has added, and those of ``ownGroup``.
    public var addedBy: String?
    /// The group with items that ``addedBy`` does not exclude.
    public var ownGroup: AccessGroup?
    public var match: MatchOptions
    /// The condition on the lookup attributes of an item. Its classes may be closed then; see ``SearchResult/locked``.
    public var lookup: Lookup?

    /// A condition on lookup attributes.
    public enum Lookup: Sendable {
        /// The item has these attributes, among others.
        case subset(LookupAttributes)
        /// A client has stored the item with exactly these attributes.
        case exactly(LookupAttributes)
    }

    /// The access groups that are searched.
    public enum Groups: Sendable {
        case only([AccessGroup])
        /// Every group of this grade.
        case all(AccessGroup.Grade)

        /// The same groups, each once: statements with a part for each group would return a row again.
        fileprivate var distinct: Groups {
            guard case .only(let list) = self, list.indices.contains(where: { list[..<$0].contains(list[$0]) })
            else { return self }
            var seen: Set<AccessGroup> = []
            return .only(list.filter { seen.insert($0).inserted })
        }
    }

    /// How the items of several groups follow each other.
    public enum GroupOrder: Sendable {
        /// By their addition.
        case addition
        /// Those of the first group precede the others.
        case firstGroupFirst
        /// Only those of the first group; if it has none, the others.
        case firstGroupElseOthers
    }

    public init(
        _ itemClass: ItemClass, groups: Groups, attributes: [ItemAttribute: AttributeValue] = [:],
        synchronizable: SynchronizableScope = .local, identifier: ItemIdentifier? = nil,
        includesTombstones: Bool = false,
        addedBy: String? = nil, match: MatchOptions = MatchOptions()
    ) {
        self.itemClass = itemClass
        self.groups = groups.distinct
        self.attributes = attributes
        self.synchronizable = synchronizable
        self.identifier = identifier
        self.includesTombstones = includesTombstones
        self.addedBy = addedBy
        self.match = match
    }
}

// MARK: Query by tokens

extension ItemSearch {
    /// Whether the search is made in two parts, for the order of the groups.
    var isInParts: Bool {
        guard groupOrder != .addition, identifier == nil, case .only(let list) = groups else { return false }
        return list.count > 1
    }

    /// The searches that are made one after the other.
    var parts: [ItemSearch] {
        guard isInParts, case .only(let list) = groups else { return [self] }
        var others = self
        (others.groups, others.groupOrder) = (.only(Array(list.dropFirst())), .addition)
        return [firstPart, others]
    }

    /// The first of the parts.
    var firstPart: ItemSearch {
        guard isInParts, case .only(let list) = groups, let own = list.first else { return self }
        var first = self
        (first.groups, first.groupOrder) = (.only([own]), .addition)
        return first
    }

    /// A parameter of the statement that selects the candidates.
    enum Parameter {
        case number(Int64)
        case bytes([UInt8])
        case token(SearchToken)
    }

    /// The form of the statement. Searches of one form differ only in the bound parameters.
    ///
    /// - Parameter selection: how lookup attributes select the rows.
    func form(_ columns: RowColumns, _ selection: CandidateQuery.Selection = .attributes) -> CandidateQuery {
        CandidateQuery(
            columns: columns, selection: selection, itemClass: itemClass, hasIdentifier: identifier != nil,
            hasProtection: protection != nil,
            tokenAttributes: tokenAttributes,
            groupCount: groupCount,
            synchronizable: synchronizable, includesTombstones: includesTombstones)
    }

    /// Whether the groups of the items may be read before the items: then both must be of one state of the database.
    /// A search by lookup attributes does so where the database has no lookup tokens.
    var readsGroupsFirst: Bool { groupCount == nil && identifier == nil && tokenAttributes.isEmpty }

    /// The tokens that a row must have in the table of lookup tokens; empty if that table does not
    /// select rows.
    func lookupTokens(_ seal: RowSeal) -> [SearchToken] {
        guard seal.columns.hasLookup else { return [] }
        switch lookup {
        case .subset(let attributes)?: return attributes.entries.map { seal.tokens.lookup($0, of: itemClass) }
        case .exactly(let attributes)?: return [seal.tokens.lookup(whole: attributes, of: itemClass)]
        case nil: return []
        }
    }

    /// The parameters of a statement of the form of this search, in its order, after the lookup tokens.
    func parameters(_ form: CandidateQuery, _ tokens: SearchTokens) -> [Parameter] {
        var parameters: [Parameter] = []
        parameters.reserveCapacity(8)
        parameters.append(.number(Int64(itemClass.number)))
        if let identifier { parameters.append(.bytes(identifier.bytes)) }
        if let protection { parameters.append(.number(Int64(protection.number))) }
        for attribute in form.tokenAttributes {
            guard let value = attributes[attribute] else { continue }
            parameters.append(.token(tokens.cachedToken(attribute, value, of: itemClass)))
        }
        if case .only(let groups) = groups { for group in groups { parameters.append(.token(tokens.group(group))) } }
        return parameters
    }

    /// Whether the tokens and plaintext columns alone decide if a row matches, so that it need not
    /// be opened.
    func isDecidedByTokens(in columns: RowColumns) -> Bool {
        guard case .only = groups, addedBy == nil, match == MatchOptions() else { return false }
        guard columns.hasLookup || lookup == nil else { return false }
        // Unnamed keys of tokens are known only when they are open.
        guard itemClass != .key || identifier != nil else { return false }
        return attributes.count == tokenAttributes.count + (protection == nil ? 0 : 1)
    }

    private var protection: ProtectionClass? {
        guard case .string(let code)? = attributes[.accessible], !match.ignoresCase else { return nil }
        return ProtectionClass(rawValue: code)
    }

    private var groupCount: Int? {
        guard case .only(let groups) = groups else { return nil }
        return groups.count
    }

    private var tokenAttributes: [ItemAttribute] {
        TokenColumns.of(itemClass).attributes.compactMap { attribute in
            guard let attribute, let value = attributes[attribute] else { return nil }
            // If case is ignored, a text value has no single token.
            return match.ignoresCase && value.text != nil ? nil : attribute
        }
    }
}

// MARK: Matching

extension ItemSearch {
    /// Whether an opened row matches, except for the conditions on its secret half.
    func matches(_ record: ItemRecord) -> Bool {
        guard contains(record.accessGroup) else { return false }
        if identifier == nil, record.isUnnamedTokenKey { return false }
        guard isOfMaker(record) else { return false }
        guard matchesLookup(record) else { return false }
        for (attribute, wanted) in attributes {
            let found = record[attribute] ?? ItemSchema.of(itemClass)[attribute]?.initial
            guard let found else { return false }
            if attribute == .tokenIdentifier, isSoftwareEnclave(found.canonicalBytes, wanted) { continue }
            guard equal(found, wanted) else { return false }
        }
        if let items = match.items, !items.contains(record.persistentReference) { return false }
        if let host = match.hostOrSubdomain {
            guard let server = record[.server]?.text, server == host || server.hasSuffix(".\(host)") else {
                return false
            }
        }
        if let text = match.subjectContains {
            let places = [record[.subject], record[.label]].compactMap { $0?.canonicalBytes }
            guard places.contains(where: { contains($0, Array(text.utf8)) }) else { return false }
        }
        return true
    }

    /// Whether the lookup attributes of an opened row are those of the condition: its tokens may have
    /// been changed, and are not authenticated.
    private func matchesLookup(_ record: ItemRecord) -> Bool {
        switch lookup {
        case .subset(let attributes)?: record.searchableLookup?.contain(attributes) ?? false
        case .exactly(let attributes)?: record.storedLookup == attributes
        case nil: true
        }
    }

    /// The access group of a row that cannot be opened, by its token.
    func group(of row: ItemRow, _ tokens: SearchTokens) -> AccessGroup? {
        guard case .only(let groups) = groups else { return nil }
        return groups.first { row.accessGroup == .token(tokens.group($0)) }
    }

    /// Whether ``matches(_:)-(MetadataFields)`` decides, so that no record is needed: the lookup attributes of an item
    /// that no client has stored are made of its attributes.
    func isDecided(by fields: MetadataFields) -> Bool {
        match == MatchOptions() && (lookup == nil || fields.bareRecord.storedLookup != nil)
    }

    /// The same for the fields of an open metadata half, if ``isDecided(by:)``.
    func matches(_ fields: MetadataFields) -> Bool {
        guard contains(fields.bareRecord.accessGroup), matchesLookup(fields.bareRecord) else { return false }
        if identifier == nil, itemClass == .key, fields.isUnnamedTokenKey { return false }
        guard isOfMaker(fields.bareRecord) else { return false }
        var found: [UInt8] = []
        for (attribute, wanted) in attributes {
            found.removeAll(keepingCapacity: true)
            if !fields.appendCanonicalBytes(of: attribute, to: &found) {
                guard let initial = ItemSchema.of(itemClass)[attribute]?.initial else { return false }
                found = initial.canonicalBytes
            }
            if attribute == .tokenIdentifier, isSoftwareEnclave(found, wanted) { continue }
            guard found == wanted.canonicalBytes else { return false }
        }
        return true
    }

    /// Whether a key is in a software enclave, and those of any Secure Enclave are searched: its
    /// program has asked for one.
    private func isSoftwareEnclave(_ token: [UInt8], _ wanted: AttributeValue) -> Bool {
        itemClass == .key && wanted == .string(EnclaveKind.requested)
            && token == AttributeValue.string(EnclaveKind.software.rawValue).canonicalBytes
    }

    private func isOfMaker(_ record: ItemRecord) -> Bool {
        guard let addedBy, record.addedBy != addedBy else { return true }
        return record.accessGroup == ownGroup
    }

    private func contains(_ group: AccessGroup) -> Bool {
        switch groups {
        case .only(let groups): groups.contains(group)
        case .all(let grade): group.grade == grade
        }
    }

    /// Whether the search also needs the secret half, because it holds the bytes of a certificate.
    var needsSecrets: Bool { match.emailAddress != nil }

    /// Whether the opened data matches. An email address is plain ASCII in a certificate: a
    /// GeneralName of type rfc822Name and the emailAddress of the subject are both IA5String (RFC
    /// 5280, §4.2.1.6).
    func matches(_ secrets: ItemSecrets) -> Bool {
        guard let address = match.emailAddress else { return true }
        let wanted = Array(address.lowercased().utf8)
        return secrets.data?.withUnsafeBytes { bytes in
            bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.firstRange(of: wanted) != nil
        } ?? false
    }

    private func equal(_ found: AttributeValue, _ wanted: AttributeValue) -> Bool {
        if match.ignoresCase, let one = found.text, let other = wanted.text {
            return one.lowercased() == other.lowercased()
        }
        return found.matches(wanted)
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard match.ignoresCase else { return bytes.firstRange(of: part) != nil }
        return String(decoding: bytes, as: UTF8.self).lowercased().contains(
            String(decoding: part, as: UTF8.self).lowercased())
    }
}

extension [UInt8] {
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard !part.isEmpty else { return 0..<0 }
        guard count >= part.count else { return nil }
        return (0...(count - part.count)).first { self[$0..<$0 + part.count].elementsEqual(part) }.map {
            $0..<$0 + part.count
        }
    }
}
