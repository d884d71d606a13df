// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The columns of a row, in the order of ``ItemRow``. A database of a version before 3 has no column
/// for constraints; only one that cannot be written has such a version.
struct RowColumns: Hashable {
    /// Whether the tables have the column `access_constraint`.
    let hasConstraint: Bool

    /// The columns after `id`, for SELECT: a missing column is NULL.
    var selection: String { hasConstraint ? Self.allColumns : Self.withoutConstraint + ", NULL" }

    /// The columns after `id` that exist.
    var existing: String { hasConstraint ? Self.allColumns : Self.withoutConstraint }

    /// `INSERT` with a parameter for every existing column.
    var insertion: String { hasConstraint ? Self.insertAll : Self.insertion(Self.columns) }

    /// `UPDATE` with a parameter for every existing column, and one for the position.
    var replacement: String { hasConstraint ? Self.replaceAll : Self.replacement(Self.columns) }

    /// The number of columns in ``selection``.
    static let count = columns.count + 1

    private static let columns =
        ["uuid", "class", "protection", "generation", "revision", "sync", "tombstone", "primary_key", "access_group"]
        + DatabaseSchema.tokenColumns.map(\.rawValue) + ["metadata", "secret"]
    private static let withoutConstraint = columns.joined(separator: ", ")
    private static let allColumns = withoutConstraint + ", access_constraint"
    private static let insertAll = insertion(columns + ["access_constraint"])
    private static let replaceAll = replacement(columns + ["access_constraint"])

    private static func insertion(_ columns: [String]) -> String {
        let parameters = columns.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO item (\(columns.joined(separator: ", "))) VALUES (\(parameters))"
    }

    private static func replacement(_ columns: [String]) -> String {
        "UPDATE item SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
    }
}
