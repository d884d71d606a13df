// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The passwords of one class that a command line selects by attributes.
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

    /// The query for the item in this target's group with the same primary key. A new item would replace it.
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

    /// The attribute that the service of a name is.
    static func serviceAttribute(of itemClass: ItemClass) -> ItemAttribute {
        itemClass == .internetPassword ? .server : .service
    }

    private var serviceAttribute: ItemAttribute { Self.serviceAttribute(of: itemClass) }
    private var serviceWord: String { itemClass == .internetPassword ? "server" : "service" }
}

/// The existing passwords that a command line selects: by attributes, or by the name of a service or of a server, or by
/// a label.
struct ItemSelection {
    /// One thing that is looked for.
    struct Step {
        let target: ItemTarget
        /// The other targets with the name. If the target and one of these are found, the name is ambiguous.
        let rivals: [ItemTarget]
    }

    /// The selection for messages.
    let text: String
    let accessGroup: String?
    /// The steps of the search, in this order: an item of a step comes before those of later ones.
    let steps: [Step]
    /// Whether the name has more than one slash.
    let hasSlashes: Bool
    /// Whether the name has no service: then an item with a label is another one.
    private let excludesLabels: Bool

    /// The items that have the attributes of a target.
    init(_ target: ItemTarget) {
        (text, accessGroup, steps) = (target.text, target.accessGroup, [Step(target: target, rivals: [])])
        (hasSlashes, excludesLabels) = (false, false)
    }

    /// The items that have a name: those of a service or server before those of a label, so that the label of
    /// another item never takes their place. Without an account, a label with the same text is ambiguous.
    ///
    /// - Parameter targets: for each class to search, the items of a service or server, and the items of a label, if
    ///   the label is not given otherwise.
    init(
        _ name: ItemName, hasAccount: Bool, in accessGroup: String?, _ targets: [(own: ItemTarget, label: ItemTarget?)]
    ) {
        text = name.text
        self.accessGroup = accessGroup
        hasSlashes = name.service.contains(UInt8(ascii: "/"))
        excludesLabels = name.service.isEmpty
        let labels = targets.compactMap(\.label)
        steps =
            targets.map { Step(target: $0.own, rivals: hasAccount ? [] : labels) }
            + labels.map { Step(target: $0, rivals: []) }
    }

    /// Whether an item that one of the targets finds has the name.
    func includes(_ record: ItemRecord) -> Bool { !excludesLabels || record.passwordName.service.isEmpty }

    /// How many items of a target are looked for, to know whether there are more than `count`.
    func limit(_ count: Int) -> MatchLimit { excludesLabels ? .all : .atMost(UInt32(count + 1)) }
}
