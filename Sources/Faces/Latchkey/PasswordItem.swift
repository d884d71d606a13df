// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// A password item as a value: ``GenericPassword`` or ``InternetPassword``.
public protocol PasswordItem: Sendable {
    /// What a search may ask for; a condition in which everything is nil asks for all.
    associatedtype Condition: PasswordCondition

    static var itemClass: ItemClass { get }

    /// The item as the keychain found it.
    init(record: ItemRecord)

    /// The attributes that tell this item apart from every other of its class.
    var primaryKey: [ItemAttribute: AttributeValue] { get }
    /// Which item this is, where the keychain found it; nil for one that was made by hand. It stays right also where an attribute is of a
    /// kind that this type cannot show, such as an account of bytes that are no text.
    var reference: PersistentReference? { get }
    /// What the user sees the item called.
    var label: String? { get }
    var comment: String? { get }
    /// When the item can be opened; nil for the usual class, or, in an update, for the one it has.
    var protection: ProtectionClass? { get }
    /// Whether the item is shared with the user's other devices.
    var isSynchronizable: Bool { get }
}

/// What a search for password items may ask for.
public protocol PasswordCondition: Sendable {
    /// Asks for all items.
    init()

    var attributes: [ItemAttribute: AttributeValue] { get }
}

extension PasswordItem {
    /// The item in the words of an error: `generic password, service example.com, account alice`.
    var nameInErrors: String {
        let shown: [(ItemAttribute, String)] = [(.server, "server"), (.service, "service"), (.account, "account")]
        let names = shown.compactMap { attribute, word in
            primaryKey[attribute]?.text.flatMap { $0.isEmpty ? nil : "\(word) \($0.prefix(200))" }
        }
        return ([Self.itemClass == .internetPassword ? "internet password" : "generic password"] + names).joined(
            separator: ", ")
    }

    /// Runs a call that is about this item; its error says so.
    func named<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try body()
        } catch {
            var named = error
            named.item = nameInErrors
            throw named
        }
    }

    /// The query that finds this item by its primary key.
    var query: ItemQuery {
        if let reference { return ItemQuery(Self.itemClass, synchronizable: .any, persistentReference: reference) }
        return ItemQuery(
            Self.itemClass, attributes: primaryKey, synchronizable: isSynchronizable ? .synchronized : .local)
    }

    func addition(data: SharedSecret) -> ItemAddition {
        ItemAddition(
            Self.itemClass, attributes: primaryKey.merging(details) { _, new in new }, secrets: ItemSecrets(data: data),
            protection: protection, isSynchronizable: isSynchronizable)
    }

    func update(data: SharedSecret) -> ItemUpdate {
        ItemUpdate(attributes: details, data: data, protection: protection)
    }

    /// What may be set without making it another item.
    private var details: [ItemAttribute: AttributeValue] {
        var details: [ItemAttribute: AttributeValue] = [:]
        if let label { details[.label] = .string(label) }
        if let comment { details[.comment] = .string(comment) }
        return details
    }
}
