// SPDX-License-Identifier: Apache-2.0

/// A row of the floor's table, copied from SQLite.
struct FloorRow {
    var id: Int64 = 0
    var uuid: [UInt8]
    var itemClass: Int64 = 1
    var protection: Int64 = 6
    var generation: Int64 = 1
    var revision: Int64 = 1
    var sync: Int64 = 0
    var tombstone: Int64 = 0
    var primaryKey: [UInt8]
    var accessGroup: [UInt8]
    /// acct, svce, srvr, labl, atag, klbl, pkhh, subj, issr.
    var tokens: [[UInt8]?]
    var metadata: [UInt8]
    var secret: [UInt8]
}

extension FloorRow {
    /// The columns in the order of ``init(_:)``, after `id`, and of ``bind(to:)``.
    static let columns = [
        "uuid", "class", "protection", "generation", "revision", "sync", "tombstone", "primary_key", "access_group",
        "acct", "svce", "srvr", "labl", "atag", "klbl", "pkhh", "subj", "issr", "metadata", "secret",
        "lookup_revision",
    ]

    /// Reads the current row of `SELECT id, columns…`.
    init(_ statement: SQLiteStatement) {
        id = statement.integer(0)
        uuid = statement.blob(1) ?? []
        itemClass = statement.integer(2)
        protection = statement.integer(3)
        generation = statement.integer(4)
        revision = statement.integer(5)
        sync = statement.integer(6)
        tombstone = statement.integer(7)
        primaryKey = statement.blob(8) ?? []
        accessGroup = statement.blob(9) ?? []
        tokens = (Int32(10)..<19).map { statement.blob($0) }
        metadata = statement.blob(19) ?? []
        secret = statement.blob(20) ?? []
    }

    /// Binds ``columns``, starting at parameter 1.
    ///
    /// - Returns: the number of parameters bound.
    @discardableResult
    func bind(to statement: SQLiteStatement) throws -> Int32 {
        try statement.bind(uuid, at: 1)
        try statement.bind(itemClass, at: 2)
        try statement.bind(protection, at: 3)
        try statement.bind(generation, at: 4)
        try statement.bind(revision, at: 5)
        try statement.bind(sync, at: 6)
        try statement.bind(tombstone, at: 7)
        try statement.bind(primaryKey, at: 8)
        try statement.bind(accessGroup, at: 9)
        var parameter: Int32 = 10
        for token in tokens {
            try statement.bind(token, at: parameter)
            parameter += 1
        }
        try statement.bind(metadata, at: parameter)
        try statement.bind(secret, at: parameter + 1)
        try statement.bind(revision, at: parameter + 2)
        return parameter + 2
    }
}
