// SPDX-License-Identifier: Apache-2.0

/// The properties that the floor copies from the keychain's database, so that both have the same
/// columns, indices and row lengths even if the format changes.
struct DatabaseShape {
    /// The statements that create the tables and their indices.
    let tables: [String]
    /// The length of a sealed metadata half: wrapped key, nonce, ciphertext and tag.
    let metadataLength: Int
    /// The length of a sealed secret half.
    let secretLength: Int

    /// Reads the database at `path`. It must contain an item of the data set.
    init(ofKeychainAt path: String) throws {
        let connection = try SQLiteConnection(path: path, isReadOnly: true)
        let schema = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        var tables: [String] = []
        while try schema.step() { tables.append(schema.text(0)) }
        let lengths = try connection.prepare("SELECT length(metadata), length(secret) FROM item LIMIT 1")
        guard try lengths.step() else {
            throw BenchmarkFailure("floor: \(path) contains no item whose row could be measured")
        }
        self.tables = tables
        metadataLength = Int(lengths.integer(0))
        secretLength = Int(lengths.integer(1))
    }
}
