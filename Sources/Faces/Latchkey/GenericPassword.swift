// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A secret for a service and an account: the most common kind of item.
public struct GenericPassword: PasswordItem, Hashable {
    /// The name of the service. With the account it identifies the item.
    public var service: String
    /// The name of the account; empty for none.
    public var account: String
    /// The name shown to the user.
    public var label: String?
    /// A comment for the user.
    public var comment: String?
    /// When the item can be opened. Nil stands for the default class, or, in an update, for the
    /// current one.
    public var protection: ProtectionClass?
    /// The authentication that each use of the item requires of the person. Nil stands for nothing, or, in an update,
    /// for no change; ``AccessControl/nothing`` removes an access control.
    public var accessControl: AccessControl?
    /// Whether the item is shared with the user's other devices.
    public var isSynchronizable: Bool
    /// The persistent reference of an item that was read from the keychain.
    public private(set) var reference: PersistentReference?

    /// Describes an item; nothing is read or stored.
    public init(
        service: String, account: String = "", label: String? = nil, comment: String? = nil,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil, isSynchronizable: Bool = false
    ) {
        self.service = service
        self.account = account
        self.label = label
        self.comment = comment
        self.protection = protection
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
    }

    /// The conditions of a search.
    public struct Condition: PasswordCondition {
        /// The service of the items; nil for any.
        public var service: String?
        /// The account of the items; nil for any.
        public var account: String?

        /// The condition that matches all items.
        public init() {}

        /// Matches items with these names; nil matches every name.
        public init(service: String? = nil, account: String? = nil) {
            self.service = service
            self.account = account
        }

        /// The attributes that a matching item has.
        public var attributes: [ItemAttribute: AttributeValue] {
            var attributes: [ItemAttribute: AttributeValue] = [:]
            if let service { attributes[.service] = .string(service) }
            if let account { attributes[.account] = .string(account) }
            return attributes
        }
    }
}

// MARK: PasswordItem

extension GenericPassword {
    /// ``ItemClass/genericPassword``.
    public static let itemClass = ItemClass.genericPassword

    /// The item as read from the keychain. An account that is not text is empty; ``reference``
    /// still identifies the item.
    public init(record: ItemRecord) {
        self.init(
            service: record[.service]?.text ?? "", account: record[.account]?.text ?? "",
            label: record[.label]?.text, comment: record[.comment]?.text, protection: record.protection,
            accessControl: AccessControl(of: record), isSynchronizable: record.isSynchronizable)
        reference = record.persistentReference
    }

    /// Service and account.
    public var primaryKey: [ItemAttribute: AttributeValue] {
        [
            .service: .string(service), .account: .string(account),
        ]
    }
}
