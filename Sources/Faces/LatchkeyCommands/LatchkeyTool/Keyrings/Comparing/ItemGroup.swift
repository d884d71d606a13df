// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The items of a source that have the same attributes and go to the same access group. They are compared
/// with each other, and with those of the keychain.
struct ItemGroup {
    let key: Key
    var items: [SourceItem]

    struct Key: Hashable {
        let accessGroup: String
        let attributes: LookupAttributes
    }

    /// More items are left out: each is compared with each.
    static let maxCount = 1000

    /// Returns the groups in the order of their first items, and the items that are too many.
    static func groups(of contents: SourceContents) -> (groups: [ItemGroup], excess: [SourceItem]) {
        let places = contents.collections.map(CollectionPlacement.accessGroup)
        var groups: [ItemGroup] = []
        var numbers: [Key: Int] = [:]
        var excess: [SourceItem] = []
        for item in contents.items {
            let key = Key(accessGroup: places[item.collection], attributes: item.attributes)
            guard let number = numbers[key] else {
                numbers[key] = groups.count
                groups.append(ItemGroup(key: key, items: [item]))
                continue
            }
            if groups[number].items.count < maxCount {
                groups[number].items.append(item)
            } else {
                excess.append(item)
            }
        }
        return (groups, excess)
    }

    /// Returns the groups in batches of some items. The secrets of a batch are read together. A large group is a batch
    /// of its own.
    static func batches(of groups: [ItemGroup]) -> [[ItemGroup]] {
        var batches: [[ItemGroup]] = []
        var (batch, count) = ([ItemGroup](), 0)
        for group in groups {
            if count + group.items.count > batchSize, !batch.isEmpty {
                batches.append(batch)
                (batch, count) = ([], 0)
            }
            batch.append(group)
            count += group.items.count
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }

    private static let batchSize = 32
}
