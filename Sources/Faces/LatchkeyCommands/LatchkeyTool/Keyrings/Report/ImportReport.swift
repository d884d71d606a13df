// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The report of `latchkey import --from`, in the shape of its JSON.
struct ImportReport: Encodable {
    let dryRun: Bool
    let source: String
    /// The items that were added, or would be.
    private(set) var new = 0
    private(set) var equal = 0
    private(set) var different = 0
    private(set) var leftOut = 0
    let collections: [Collection]
    private(set) var items: [Item] = []

    struct Collection: Encodable {
        let label: String
        /// The access group of its items; absent if they are left out.
        let accessGroup: String?
        /// Why its items are left out; absent if they are not.
        let reason: String?
    }

    struct Item: Encodable {
        let state: ItemState
        let collection: String
        /// The name of the item for the daily commands, or its path in the source.
        let name: String
        let label: String?
        let attributes: [String: String]?
        /// Why it is left out; absent if it is not.
        let reason: String?
    }

    init(_ source: String, _ contents: SourceContents, dryRun: Bool) {
        (self.source, self.dryRun) = (source, dryRun)
        collections = contents.collections.map { collection in
            let isRead = collection.omission == nil
            return Collection(
                label: collection.label, accessGroup: isRead ? CollectionPlacement.accessGroup(of: collection) : nil,
                reason: collection.omission?.reason)
        }
        for (collection, name, omission) in contents.omitted {
            add(
                Item(
                    state: .leftOut, collection: collections[collection].label, name: name, label: nil,
                    attributes: nil, reason: omission.reason))
        }
    }

    mutating func add(_ item: SourceItem, _ state: ItemState, reason: String? = nil) {
        let pairs = item.attributes.entries.map { ($0.name, $0.value) }
        add(
            Item(
                state: state, collection: collections[item.collection].label, name: item.attributes.itemName,
                label: item.label,
                // Names that differ only in their bytes are one key of a dictionary.
                attributes: Dictionary(pairs) { first, _ in first }, reason: reason))
    }

    private mutating func add(_ item: Item) {
        items.append(item)
        switch item.state {
        case .new: new += 1
        case .equal: equal += 1
        case .different: different += 1
        case .leftOut: leftOut += 1
        }
    }
}

extension LookupAttributes {
    /// SERVICE/ACCOUNT, as SecItem sees the item.
    var itemName: String {
        let values = itemAttributes(of: itemClass)
        let place: ItemAttribute = itemClass == .internetPassword ? .server : .service
        let service = values[place]?.text ?? ""
        let account = values[.account]?.text ?? ""
        return account.isEmpty ? service : "\(service)/\(account)"
    }
}
