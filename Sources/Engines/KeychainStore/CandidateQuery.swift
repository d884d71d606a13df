// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import Synchronization

/// The statement that finds the candidates of a search: every row that the tokens and clear columns admit, in the order of insertion.
/// ``ItemSearch/matches(_:)-(ItemRecord)`` decides among them.
struct CandidateQuery: Hashable {
    let itemClass: ItemClass
    let hasIdentifier: Bool
    /// Whether one protection class is looked for, which stands in the clear: rows of other classes need not be open.
    let hasProtection: Bool
    /// The attributes that are searched by token, in the order of the columns.
    let tokenAttributes: [ItemAttribute]
    /// nil where all groups are seen.
    let groupCount: Int?
    let synchronizable: SynchronizableScope
    let includesTombstones: Bool

    /// The columns are `id`, ``ItemRow/columns`` and the keybag's generation, so that one statement tells under which keys it must be read.
    var sql: String {
        let known = Self.texts.withLock { $0[self] }
        if let known { return known }
        let text = compose()
        Self.texts.withLock { texts in
            // Programs have a handful of forms; one that has many does not fill the memory with them.
            if texts.count >= Self.maxCached { texts.removeAll() }
            texts[self] = text
        }
        return text
    }

    /// Where the keybag's generation stands.
    static let generationColumn = Int32(ItemRow.columns.count + 1)

    private func compose() -> String {
        // A plus sign keeps SQLite from answering by the group's index when a far narrower one is there.
        let plus = hasIdentifier || !tokenAttributes.isEmpty ? "+" : ""
        var conditions = ["\(plus)class = ?"]
        if hasIdentifier { conditions.append("uuid = ?") }
        if hasProtection { conditions.append("protection = ?") }
        for attribute in tokenAttributes { conditions.append("\(attribute.rawValue) = ?") }
        if tokenAttributes.contains(.account) {
            // The columns that the class lacks are NULL; saying so lets the compound index be used to its end.
            for attribute in [ItemAttribute.service, .server] where ItemSchema.of(itemClass)[attribute] == nil {
                conditions.append("\(attribute.rawValue) IS NULL")
            }
        }
        if let groupCount {
            conditions.append(
                "\(plus)access_group IN (\(repeatElement("?", count: groupCount).joined(separator: ", ")))")
        }
        switch synchronizable {
        case .local: conditions.append("sync = 0")
        case .synchronized: conditions.append("sync = 1")
        case .any: break
        }
        if !includesTombstones { conditions.append("tombstone = 0") }
        let columns = ItemRow.columns.joined(separator: ", ")
        return """
            SELECT id, \(columns), (SELECT generation FROM keybag WHERE id = 1)
            FROM item WHERE \(conditions.joined(separator: " AND ")) ORDER BY id
            """
    }

    private static let texts = Mutex<[CandidateQuery: String]>([:])
    private static let maxCached = 256
}
