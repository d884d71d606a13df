// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The columns of a row, in the order of ``ItemRow``. A database of an earlier version lacks the last
/// ones; only one that cannot be written has such a version.
struct RowColumns: Hashable {
    /// Whether the tables have the column `access_constraint`.
    let hasConstraint: Bool
    /// Whether they have the column `lookup_revision` and the table of lookup tokens.
    let hasLookup: Bool

    /// - Parameter version: of the tables.
    init(version: Int) { (hasConstraint, hasLookup) = (version >= 3, version >= 4) }

    static let newest = RowColumns(version: DatabaseSchema.version)

    /// The columns after `id`, for SELECT: a missing column is NULL.
    var selection: String { texts.selection }

    /// The columns after `id` that exist.
    var existing: String { texts.existing }

    /// `INSERT` with a parameter for every existing column.
    var insertion: String { texts.insertion }

    /// `UPDATE` with a parameter for every existing column, and one for the position.
    var replacement: String { texts.replacement }

    /// `SELECT` of `id` and ``selection``, by the primary key.
    var selectionByKey: String { texts.selectionByKey }

    /// The number of columns in ``selection``.
    static let count = columns.count + added.count

    private struct Texts {
        let selection: String
        let existing: String
        let insertion: String
        let replacement: String
        let selectionByKey: String

        /// - Parameter count: the number of added columns that exist.
        init(_ count: Int) {
            let existing = RowColumns.columns + RowColumns.added.prefix(count)
            let missing = RowColumns.added.dropFirst(count).map { _ in "NULL" }
            self.existing = existing.concatenated(separator: ", ")
            selection = (existing + missing).concatenated(separator: ", ")
            let parameters = existing.map { _ in "?" }.concatenated(separator: ", ")
            insertion = "INSERT INTO item (\(self.existing)) VALUES (\(parameters))"
            replacement = "UPDATE item SET \(existing.map { "\($0) = ?" }.concatenated(separator: ", ")) WHERE id = ?"
            selectionByKey = "SELECT id, \(selection) FROM item WHERE primary_key = ?"
        }
    }

    private var texts: Texts { hasLookup ? Self.newestTexts : hasConstraint ? Self.withConstraint : Self.first }

    private static let columns =
        ["uuid", "class", "protection", "generation", "revision", "sync", "tombstone", "primary_key", "access_group"]
        + DatabaseSchema.tokenColumns.map(\.rawValue) + ["metadata", "secret"]
    /// The columns of later versions, in their order.
    private static let added = ["access_constraint", "lookup_revision"]
    private static let first = Texts(0)
    private static let withConstraint = Texts(1)
    private static let newestTexts = Texts(2)
}
