// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// Which rows a call is about, after the caller's rights have been worked in: all conditions hold at once.
public struct ItemSearch: Sendable {
    public var itemClass: ItemClass
    public var groups: Groups
    /// Attributes that must have these values; indexed ones are searched by token, the others compared after opening.
    public var attributes: [ItemAttribute: AttributeValue]
    public var synchronizable: SynchronizableScope
    public var identifier: ItemIdentifier?
    public var includesTombstones: Bool
    /// Only items that this executable added.
    public var maker: String?
    public var match: MatchOptions

    /// The access groups that may be seen.
    public enum Groups: Sendable {
        case only([AccessGroup])
        /// Every group of this grade.
        case all(AccessGroup.Grade)
    }

    public init(
        _ itemClass: ItemClass, groups: Groups, attributes: [ItemAttribute: AttributeValue] = [:],
        synchronizable: SynchronizableScope = .local, identifier: ItemIdentifier? = nil, includesTombstones: Bool = false,
        maker: String? = nil, match: MatchOptions = MatchOptions()
    ) {
        self.itemClass = itemClass
        self.groups = groups
        self.attributes = attributes
        self.synchronizable = synchronizable
        self.identifier = identifier
        self.includesTombstones = includesTombstones
        self.maker = maker
        self.match = match
    }
}

// MARK: The query by tokens

extension ItemSearch {
    /// A statement that finds the candidates, in the order of insertion, and what to bind to it.
    struct Statement {
        var sql: String
        var parameters: [Parameter]

        enum Parameter {
            case number(Int64)
            case bytes([UInt8])
        }
    }

    /// The candidates: every row that the tokens and clear columns admit. ``admits(_:)`` decides among them.
    func statement(_ tokens: SearchTokens) -> Statement {
        var conditions: [String] = []
        var parameters: [Statement.Parameter] = []
        let searched = searchedByToken
        // A plus sign keeps SQLite from answering by the group's index when a far narrower one is there.
        let narrow = identifier != nil || !searched.isEmpty
        let plus = narrow ? "+" : ""
        conditions.append("\(plus)class = ?")
        parameters.append(.number(Int64(itemClass.number)))
        if let identifier {
            conditions.append("uuid = ?")
            parameters.append(.bytes(identifier.bytes))
        }
        for attribute in searched {
            guard let value = attributes[attribute] else { continue }
            conditions.append("\(attribute.rawValue) = ?")
            parameters.append(.bytes(tokens.searched(attribute, value, of: itemClass)))
        }
        if searched.contains(.account) {
            // The columns that the class lacks are NULL; saying so lets the compound index be used to its end.
            for attribute in [ItemAttribute.service, .server] where ItemSchema.of(itemClass)[attribute] == nil {
                conditions.append("\(attribute.rawValue) IS NULL")
            }
        }
        if case .only(let groups) = groups {
            conditions.append("\(plus)access_group IN (\(groups.map { _ in "?" }.joined(separator: ", ")))")
            parameters += groups.map { .bytes(tokens.group($0)) }
        }
        switch synchronizable {
        case .local: conditions.append("sync = 0")
        case .synchronized: conditions.append("sync = 1")
        case .any: break
        }
        if !includesTombstones { conditions.append("tombstone = 0") }
        let sql = "SELECT id, \(Self.columnList) FROM item WHERE \(conditions.joined(separator: " AND ")) ORDER BY id"
        return Statement(sql: sql, parameters: parameters)
    }

    private static let columnList = ItemRow.columns.joined(separator: ", ")

    private var searchedByToken: [ItemAttribute] {
        let schema = ItemSchema.of(itemClass)
        return DatabaseSchema.tokenColumns.filter { attribute in
            guard let value = attributes[attribute], schema[attribute]?.isIndexed == true else { return false }
            // Without regard to case, text has no single token.
            return !(match.ignoresCase && value.text != nil)
        }
    }

    // MARK: The decision

    /// Whether an opened row is one that is looked for.
    func admits(_ record: ItemRecord) -> Bool {
        switch groups {
        case .only(let groups): guard groups.contains(record.accessGroup) else { return false }
        case .all(let grade): guard record.accessGroup.grade == grade else { return false }
        }
        if let maker, record.maker != maker { return false }
        for (attribute, wanted) in attributes {
            let found = record[attribute] ?? ItemSchema.of(itemClass)[attribute]?.initial
            guard let found, equal(found, wanted) else { return false }
        }
        if let items = match.items, !items.contains(record.persistentReference) { return false }
        if let host = match.hostOrSubdomain {
            guard let server = record[.server]?.text, server == host || server.hasSuffix(".\(host)") else { return false }
        }
        if let text = match.subjectContains {
            let places = [record[.subject], record[.label]].compactMap { $0?.canonicalBytes }
            guard places.contains(where: { contains($0, Array(text.utf8)) }) else { return false }
        }
        return true
    }

    /// Whether the decision also needs the secret half, where a certificate's bytes lie.
    var decidesByData: Bool { match.emailAddress != nil }

    /// Whether the opened data is what is looked for. An address lies in a certificate as plain ASCII: a GeneralName of type rfc822Name
    /// and the subject's emailAddress are both IA5String (RFC 5280, §4.2.1.6).
    func admits(_ secrets: ItemSecrets) -> Bool {
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
        return String(decoding: bytes, as: UTF8.self).lowercased().contains(String(decoding: part, as: UTF8.self).lowercased())
    }
}

extension [UInt8] {
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard !part.isEmpty else { return 0..<0 }
        guard count >= part.count else { return nil }
        return (0...(count - part.count)).first { self[$0..<$0 + part.count].elementsEqual(part) }.map { $0..<$0 + part.count }
    }
}
