// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// A password item as a value: ``GenericPassword`` or ``InternetPassword``.
public protocol PasswordItem: Sendable {
    /// The conditions of a search; a condition with every property nil matches all items.
    associatedtype Condition: PasswordCondition

    /// The class of the items of this type.
    static var itemClass: ItemClass { get }

    /// The item as read from the keychain.
    init(record: ItemRecord)

    /// The attributes that identify this item within its class.
    var primaryKey: [ItemAttribute: AttributeValue] { get }
    /// The persistent reference of an item that was read from the keychain; nil for an item that the program created.
    /// It is correct even if this type cannot represent an attribute, such as an account of bytes that are not text.
    var reference: PersistentReference? { get }
    /// The name shown to the user.
    var label: String? { get }
    /// A comment for the user.
    var comment: String? { get }
    /// When the item can be opened. Nil stands for the default class, or, in an update, for the
    /// current one.
    var protection: ProtectionClass? { get }
    /// The authentication that each use of the item requires of the person. Nil stands for nothing, or, in an update,
    /// for no change; ``AccessControl/nothing`` removes an access control.
    var accessControl: AccessControl? { get }
    /// Whether the item is shared with the user's other devices.
    var isSynchronizable: Bool { get }
}

/// The conditions of a search for password items.
public protocol PasswordCondition: Sendable {
    /// The condition that matches all items.
    init()

    /// The attributes that a matching item has.
    var attributes: [ItemAttribute: AttributeValue] { get }
}

extension PasswordItem {
    /// Nothing.
    public var accessControl: AccessControl? { nil }

    /// The item's description in errors: `generic password, service example.com, account alice`.
    var nameInErrors: String {
        let shown: [(ItemAttribute, String)] = [(.server, "server"), (.service, "service"), (.account, "account")]
        let names = shown.compactMap { attribute, word in
            primaryKey[attribute]?.text.flatMap { $0.isEmpty ? nil : "\(word) \($0.prefix(200))" }
        }
        return ([Self.itemClass == .internetPassword ? "internet password" : "generic password"] + names).joined(
            separator: ", ")
    }

    /// Runs a call that concerns this item, and names the item in the error.
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
            protection: protection ?? accessControl.map { _ in .whenUnlocked },
            accessControlFlags: accessControl?.flags,
            isSynchronizable: isSynchronizable)
    }

    func update(data: SharedSecret) -> ItemUpdate {
        ItemUpdate(attributes: details, data: data, protection: protection, accessControlFlags: accessControl?.flags)
    }

    /// The attributes that can be set without changing the item's identity.
    private var details: [ItemAttribute: AttributeValue] {
        var details: [ItemAttribute: AttributeValue] = [:]
        if let label { details[.label] = .string(label) }
        if let comment { details[.comment] = .string(comment) }
        return details
    }
}
