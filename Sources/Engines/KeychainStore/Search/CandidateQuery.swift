// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The statement that selects the candidates of a search: every row with matching tokens and plaintext columns, in the
/// order of insertion. ``ItemSearch/matches(_:)-(ItemRecord)`` selects the matching candidates.
struct CandidateQuery: Hashable {
    let columns: RowColumns
    let selection: Selection
    let itemClass: ItemClass
    let hasIdentifier: Bool
    /// Whether the search names one protection class. The class is a plaintext column, so rows of
    /// other classes need not be unlocked.
    let hasProtection: Bool
    /// The attributes that are searched by token, in the order of the columns.
    let tokenAttributes: [ItemAttribute]
    /// nil if all groups are searched.
    var groupCount: Int?
    let synchronizable: SynchronizableScope
    let includesTombstones: Bool

    /// How the rows are selected, besides by the columns.
    enum Selection: Hashable {
        /// By the columns alone.
        case attributes
        /// By this number of lookup tokens, at least one: first by the first one, and of its items those
        /// that have the others.
        case lookup(Int)
        /// Every row without written lookup tokens.
        case unindexed
    }

    /// The columns are `id`, ``RowColumns/selection`` and the generation of the keybag, so that one statement also
    /// identifies the keys of its rows.
    var sql: String {
        let known = Self.texts.withLock { $0[self] }
        if let known { return known }
        let text = compose()
        Self.texts.withLock { texts in
            // A program uses few forms. The limit bounds the memory for a program that uses many.
            if texts.count >= Self.maxCached { texts.removeAll() }
            texts[self] = text
        }
        return text
    }

    /// The column of the keybag's generation.
    static let generationColumn = Int32(RowColumns.count + 1)

    private func compose() -> String {
        if selectsGroups {
            if groupCount == nil || groupCount ?? 0 > Self.maxMerged { return composeByPosition() }
            if let groupCount, groupCount > 1 { return composeMerged(groupCount) }
        }
        // The unary plus keeps SQLite from using the group index when a more selective index
        // exists.
        let plus = hasIdentifier || !tokenAttributes.isEmpty || selection != .attributes ? "+" : ""
        let (source, first) = composeSource()
        var conditions = first
        conditions.append("\(plus)class = ?")
        if hasIdentifier { conditions.append("uuid = ?") }
        if hasProtection { conditions.append("protection = ?") }
        for attribute in tokenAttributes { conditions.append("\(attribute.rawValue) = ?") }
        if tokenAttributes.contains(.account) {
            // The columns that the class lacks are NULL. With these conditions SQLite can use all
            // columns of the compound index.
            for attribute in [ItemAttribute.service, .server] where ItemSchema.of(itemClass)[attribute] == nil {
                conditions.append("\(attribute.rawValue) IS NULL")
            }
        }
        if let groupCount {
            conditions.append(
                "\(plus)access_group IN (\(Array(repeating: "?", count: groupCount).concatenated(separator: ", ")))")
        }
        conditions += plainConditions
        return """
            SELECT item.id, \(columns.selection), (SELECT generation FROM keybag WHERE id = 1)
            FROM \(source) WHERE \(conditions.concatenated(separator: " AND ")) ORDER BY \(order)
            """
    }

    /// Whether nothing but the class and the groups selects the rows. The index has them in the order of
    /// the groups: SQLite would collect and sort all rows, in memory, before it returned the first one.
    var selectsGroups: Bool { !hasIdentifier && tokenAttributes.isEmpty && selection == .attributes }

    /// Reads the rows of each group in order, and merges them. The parameters have the numbers that they
    /// have in the other statements.
    private func composeMerged(_ groupCount: Int) -> String {
        let parts = groupNumbers(groupCount).map { number in
            """
            SELECT item.id, \(columns.selection), (SELECT generation FROM keybag WHERE id = 1)
            FROM item WHERE \((["class = ?1"] + sharedConditions + ["access_group = ?\(number)"]).joined(separator: " AND "))
            """
        }
        return parts.joined(separator: "\nUNION ALL\n") + "\nORDER BY 1"
    }

    /// Sorts only the positions of the rows, for more groups than are merged.
    private func composeByPosition() -> String {
        let numbers = groupCount.map { groupNumbers($0).map { "?\($0)" }.joined(separator: ", ") }
        let groups = numbers.map { " AND access_group IN (\($0))" } ?? ""
        let conditions = ["item.id IN (SELECT id FROM item WHERE class = ?1\(groups))"] + sharedConditions
        return """
            SELECT item.id, \(columns.selection), (SELECT generation FROM keybag WHERE id = 1)
            FROM item WHERE \(conditions.concatenated(separator: " AND ")) ORDER BY item.id
            """
    }

    private func groupNumbers(_ count: Int) -> Range<Int> {
        let first = hasProtection ? 3 : 2
        return first..<first + count
    }

    private var sharedConditions: [String] { (hasProtection ? ["protection = ?2"] : []) + plainConditions }

    /// The conditions without a parameter.
    private var plainConditions: [String] {
        let scope: [String] =
            switch synchronizable {
            case .local: ["sync = 0"]
            case .synchronized: ["sync = 1"]
            case .any: []
            }
        return includesTombstones ? scope : scope + ["tombstone = 0"]
    }

    /// SQLite reads the first row of each part before it returns one.
    static let maxMerged = 16

    /// Whether the lookup tokens, and not an identifier, select the rows.
    private var beginsWithLookup: Bool {
        if case .lookup = selection { !hasIdentifier } else { false }
    }

    /// The position of a row. The table of lookup tokens returns it in order.
    private var order: String { beginsWithLookup ? "found.item" : "item.id" }

    private func composeSource() -> (source: String, conditions: [String]) {
        switch selection {
        case .attributes: return ("item", [])
        case .unindexed: return ("item INDEXED BY item_unindexed", [LookupTable.unindexed])
        case .lookup(let count):
            let other = "EXISTS (SELECT 1 FROM lookup WHERE token = ? AND item = \(order))"
            guard beginsWithLookup else { return ("item", Array(repeating: other, count: count)) }
            // The order of a CROSS JOIN is fixed: https://www.sqlite.org/optoverview.html, "Manual
            // control of query plans using CROSS JOIN".
            return (
                "lookup AS found CROSS JOIN item ON item.id = found.item",
                ["found.token = ?"] + Array(repeating: other, count: count - 1)
            )
        }
    }

    private static let texts = SystemMutex<[CandidateQuery: String]>([:])
    private static let maxCached = 256
}
