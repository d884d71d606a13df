// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The parts of ``ItemSchema`` for the tokens of a class, prepared once.
struct TokenColumns: Sendable {
    /// The attributes of ``DatabaseSchema/tokenColumns``, in that order; nil if the class lacks one.
    let attributes: [ItemAttribute?]
    let primaryKey: [PrimaryKeyColumn]

    struct PrimaryKeyColumn: Sendable {
        let attribute: ItemAttribute
        let code: UInt32
        /// The canonical bytes of an unset attribute.
        let initial: [UInt8]
    }

    static func of(_ itemClass: ItemClass) -> TokenColumns {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }

    private init(_ itemClass: ItemClass) {
        let schema = ItemSchema.of(itemClass)
        attributes = DatabaseSchema.tokenColumns.map { schema[$0]?.isIndexed == true ? $0 : nil }
        primaryKey = schema.primaryKey.map { column in
            PrimaryKeyColumn(
                attribute: column.attribute, code: column.attribute.code,
                initial: (column.initial ?? .string("")).canonicalBytes)
        }
    }

    private static let genericPassword = TokenColumns(.genericPassword)
    private static let internetPassword = TokenColumns(.internetPassword)
    private static let certificate = TokenColumns(.certificate)
    private static let key = TokenColumns(.key)
    private static let identity = TokenColumns(.identity)
}
