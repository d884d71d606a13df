// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// A row of the table `item`, as it is in the database: plaintext columns, search tokens and two
/// sealed halves. Its values are not trusted.
struct ItemRow {
    /// The position in the order of insertion; 0 before the row is inserted.
    var position: Int64 = 0
    var clear: ClearColumns
    var primaryKey: TokenColumn
    var accessGroup: TokenColumn
    /// The tokens of ``DatabaseSchema/tokenColumns``.
    var tokens: [TokenColumn]
    var metadata: [UInt8]
    var secret: [UInt8]
    /// The encoded ``ConstraintRecord`` of an item with constraints; nil if the column is NULL.
    var constraint: [UInt8]?
    /// The lookup tokens that are written with the row. A row that was read has none.
    var lookup: [SearchToken] = []
    /// Whether the table of lookup tokens has those of this revision.
    var isIndexed = true
}

/// The content of a column that holds a search token.
enum TokenColumn: Equatable {
    case token(SearchToken)
    /// The item lacks the attribute.
    case null
    /// The column has another length than a token, so it is equal to no token.
    case malformed
}

/// The columns that are stored in plaintext. All of them are part of the additional data of both
/// halves.
struct ClearColumns: Equatable {
    var identifier: ItemIdentifier
    var itemClass: ItemClass
    var protection: ProtectionClass
    var generation: UInt32
    var revision: UInt64
    var isSynchronizable: Bool
    var isTombstone: Bool

    /// The same as ``ItemRecord/canSynchronize``.
    var canSynchronize: Bool { isSynchronizable && !protection.isThisDeviceOnly }
}

// MARK: Reading and writing

extension ItemRow {
    /// Reads the current row of `SELECT id, columns…` (``RowColumns``); nil if a plaintext column has
    /// an invalid value.
    init?(_ statement: borrowing RowStatement) {
        guard let identifier = ItemIdentifier(bytes: statement.blob(1)),
            let classNumber = UInt8(exactly: statement.integer(2)), let itemClass = ItemClass(number: classNumber),
            let protectionNumber = UInt8(exactly: statement.integer(3)),
            let protection = ProtectionClass(number: protectionNumber),
            let generation = UInt32(exactly: statement.integer(4)),
            let revision = UInt64(exactly: statement.integer(5)),
            let isSynchronizable = Bool(exactly: statement.integer(6)),
            let isTombstone = Bool(exactly: statement.integer(7))
        else { return nil }
        position = statement.integer(0)
        clear = ClearColumns(
            identifier: identifier, itemClass: itemClass, protection: protection, generation: generation,
            revision: revision,
            isSynchronizable: isSynchronizable, isTombstone: isTombstone)
        primaryKey = statement.token(8)
        accessGroup = statement.token(9)
        let firstToken = Int32(10)
        let tokenCount = Int32(DatabaseSchema.tokenColumns.count)
        tokens = (firstToken..<firstToken + tokenCount).map { statement.token($0) }
        metadata = statement.blob(firstToken + tokenCount)
        secret = statement.blob(firstToken + tokenCount + 1)
        constraint = statement.nullableBlob(firstToken + tokenCount + 2)
        isIndexed = statement.nullableInteger(firstToken + tokenCount + 3) == statement.integer(5)
    }

    /// Binds the columns, from parameter 1 on, and returns the number of bound parameters.
    func bind(to statement: borrowing RowStatement, _ columns: RowColumns) throws(StoreError) -> Int32 {
        try statement.bind(clear.identifier.bytes, at: 1)
        try statement.bind(Int64(clear.itemClass.number), at: 2)
        try statement.bind(Int64(clear.protection.number), at: 3)
        try statement.bind(Int64(clear.generation), at: 4)
        try statement.bind(Int64(clamping: clear.revision), at: 5)
        try statement.bind(clear.isSynchronizable ? 1 : 0, at: 6)
        try statement.bind(clear.isTombstone ? 1 : 0, at: 7)
        try statement.bind(primaryKey, at: 8)
        try statement.bind(accessGroup, at: 9)
        var parameter: Int32 = 10
        for token in tokens {
            try statement.bind(token, at: parameter)
            parameter += 1
        }
        try statement.bind(metadata, at: parameter)
        try statement.bind(secret, at: parameter + 1)
        guard columns.hasConstraint else { return parameter + 1 }
        try statement.bind(constraint, at: parameter + 2)
        guard columns.hasLookup else { return parameter + 2 }
        try statement.bind(Int64(clamping: clear.revision), at: parameter + 3)
        return parameter + 3
    }
}

extension Bool {
    fileprivate init?(exactly number: Int64) {
        switch number {
        case 0: self = false
        case 1: self = true
        default: return nil
        }
    }
}
