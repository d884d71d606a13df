// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The queries of one call. An object that came from the keychain stands for the item that it came
/// from. If that item is gone or does not match the other conditions, the object stands for every
/// item with the same content: an old `SecKey` finds a key that was deleted and stored again.
struct ItemLookup {
    private(set) var query: ItemQuery
    /// The query by the content of the object; nil if the caller gave no object from the keychain.
    private var alternative: ItemQuery?
    /// The items that limit the call; nil for no limit.
    var listed: ItemList?

    init(_ query: ItemQuery, otherwise alternative: ItemQuery? = nil) {
        self.query = query
        self.alternative = alternative
    }

    /// Runs a call, and runs it again with the alternative query if it found nothing.
    func perform<Result>(
        _ authentication: Authentication, _ body: (ItemQuery) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let items = try listed?.items(authentication)
        func run(_ query: ItemQuery) throws(KeychainError) -> Result {
            var query = query
            query.authentication = authentication
            query.match.items = items
            return try body(query)
        }
        do throws(KeychainError) {
            return try run(query)
        } catch {
            guard error.status == .itemNotFound, let alternative else { throw error }
            return try run(alternative)
        }
    }

    /// Changes both queries.
    mutating func narrow(_ change: (inout ItemQuery) -> Void) {
        change(&query)
        if var other = alternative {
            change(&other)
            alternative = other
        }
    }
}
