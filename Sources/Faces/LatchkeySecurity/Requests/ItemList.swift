// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The items that kSecMatchItemList and kSecUseItemList name: those in both lists, if both are
/// given.
struct ItemList {
    enum Entry {
        case reference(PersistentReference)
        /// Stands for the items that kSecValueRef finds with it.
        case object(ItemReference)
    }

    private let entries: [Entry]
    private let others: [Entry]?

    init(_ entries: [Entry], and others: [Entry]? = nil) {
        self.entries = entries
        self.others = others
    }

    /// Returns the items, after a search for those that objects stand for.
    func items(_ authentication: Authentication) throws(KeychainError) -> Set<PersistentReference> {
        let items = try Self.items(entries, authentication)
        guard let others else { return items }
        return items.intersection(try Self.items(others, authentication))
    }

    private static func items(
        _ entries: [Entry], _ authentication: Authentication
    ) throws(KeychainError) -> Set<PersistentReference> {
        var items: Set<PersistentReference> = []
        for entry in entries {
            switch entry {
            case .reference(let reference): items.insert(reference)
            case .object(let object): items.formUnion(try object.storedItems(authentication))
            }
        }
        return items
    }
}
