// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What a call looks for. An object that came out of the keychain stands for the item it came from, and where that item is gone, or is not what
/// the other conditions ask for, for every item that holds what the object is: a key that was deleted and stored again is found by an old `SecKey`.
struct ItemLookup {
    private(set) var query: ItemQuery
    /// The query by what the object is; nil where no object of the keychain is given.
    private var alternative: ItemQuery?

    init(_ query: ItemQuery, otherwise alternative: ItemQuery? = nil) {
        self.query = query
        self.alternative = alternative
    }

    /// Runs a call, and once more with the alternative where it found nothing.
    func perform<Result>(_ body: (ItemQuery) throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try body(query)
        } catch {
            guard error.status == .itemNotFound, let alternative else { throw error }
            return try body(alternative)
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
