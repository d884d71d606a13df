// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The passwords that a command line selects.
struct ItemTarget {
    let itemClass: ItemClass
    /// The attributes that the command line names.
    let attributes: [ItemAttribute: AttributeValue]
    /// nil for every group, and for the group `latchkey.shared` of a new item.
    let accessGroup: String?

    /// The selection for messages: a name, or the label.
    var text: String {
        if let service = attributes[serviceAttribute] {
            return ItemName(service: service.canonicalBytes, account: attributes[.account]?.canonicalBytes).text
        }
        if let account = attributes[.account] {
            return "account " + ItemName(service: account.canonicalBytes, account: nil).text
        }
        return attributes[.label]?.text ?? "*"
    }

    /// The query for these items, among local and synchronized ones.
    func query(limit: MatchLimit) -> ItemQuery {
        ItemQuery(
            itemClass, attributes: attributes, accessGroup: accessGroup, synchronizable: .any, limit: limit)
    }

    /// The query for the item in this target's group with the same primary key, which a new item
    /// would replace.
    var keyQuery: ItemQuery {
        let schema = ItemSchema.of(itemClass)
        let key = completed.filter { schema[$0.key]?.isPrimaryKey == true }
        return ItemQuery(itemClass, attributes: key, accessGroup: group, limit: .one)
    }

    /// The attributes of a new item: every attribute of the primary key has a value, so that an
    /// existing item is found only if the whole key is equal.
    var completed: [ItemAttribute: AttributeValue] {
        var all = attributes
        for column in ItemSchema.of(itemClass).primaryKey where !column.isSystemSet && all[column.attribute] == nil {
            all[column.attribute] = column.initial
        }
        return all
    }

    /// The group of a new item.
    var group: String { accessGroup ?? AccessGroup.shared.name }

    /// Checks that the target names one key, as a new item requires.
    ///
    /// - Throws: errSecParam if service or account is missing.
    func requireKey() throws(CommandFailure) {
        guard attributes[serviceAttribute] != nil else {
            throw .parameter(
                "the \(serviceWord) is missing; expected \(serviceWord.uppercased())/ACCOUNT",
                hint: "--\(serviceWord) names it")
        }
        guard attributes[.account] != nil else {
            throw .parameter(
                "the account is missing in '\(text)'; expected \(serviceWord.uppercased())/ACCOUNT",
                hint: "\(text)/ACCOUNT; --account '' names an item without an account")
        }
    }

    private var serviceAttribute: ItemAttribute { itemClass == .internetPassword ? .server : .service }
    private var serviceWord: String { itemClass == .internetPassword ? "server" : "service" }
}
