// SPDX-License-Identifier: Apache-2.0

import Keybag
import KeychainModel
@testable import KeychainStore
import SecretMemory

/// Items as clients of the Secret Service store them, and searches for them.
enum LookupSample {
    /// A keychain in memory.
    static func store() throws -> KeychainStore { try KeychainStore(inMemoryWith: DeviceKey.ephemeral()) }

    static func map(_ pairs: [String: String]) throws -> LookupAttributes {
        try LookupAttributes(pairs.map { (name: $0.key, value: $0.value) })
    }

    static func item(
        _ pairs: [String: String], data: String = "the data", _ protection: ProtectionClass = .whenUnlocked,
        group: AccessGroup = Sample.group
    ) throws -> ItemRecord {
        let attributes = try map(pairs)
        var record = ItemRecord(
            identifier: .random(), itemClass: attributes.itemClass, protection: protection, accessGroup: group,
            created: 100, modified: 100, addedBy: "/usr/bin/example",
            secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)))
        record.setLookup(attributes)
        record.contentType = ContentType("text/plain; charset=utf8")
        record.completeDefaults()
        return record
    }

    static func search(
        _ pairs: [String: String], _ itemClass: ItemClass = .genericPassword, group: AccessGroup = Sample.group
    ) throws -> ItemSearch {
        var search = ItemSearch(itemClass, groups: .only([group]), synchronizable: .any)
        search.lookup = .subset(try map(pairs))
        return search
    }
}

extension KeychainStore {
    /// Returns the data of the items that have these lookup attributes, in the order of their addition.
    func texts(
        _ pairs: [String: String], _ itemClass: ItemClass = .genericPassword, group: AccessGroup = Sample.group
    ) throws -> [String] {
        try search(try LookupSample.search(pairs, itemClass, group: group), limit: nil, withSecrets: true)
            .records.compactMap(\.text)
    }

    func addNumbered(_ record: ItemRecord) throws -> ItemRecord {
        try transaction { (items) throws(StoreError) in try items.addNumbered(record) }
    }
}
