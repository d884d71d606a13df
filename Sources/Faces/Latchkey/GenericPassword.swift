// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A secret for a service and an account: the most common kind of item.
public struct GenericPassword: PasswordItem, Hashable {
    public var service: String
    public var account: String
    /// The name shown to the user.
    public var label: String?
    public var comment: String?
    /// When the item can be opened. Nil stands for the default class, or, in an update, for the
    /// current one.
    public var protection: ProtectionClass?
    /// Whether the item is shared with the user's other devices.
    public var isSynchronizable: Bool
    public private(set) var reference: PersistentReference?

    public init(
        service: String, account: String = "", label: String? = nil, comment: String? = nil,
        protection: ProtectionClass? = nil,
        isSynchronizable: Bool = false
    ) {
        self.service = service
        self.account = account
        self.label = label
        self.comment = comment
        self.protection = protection
        self.isSynchronizable = isSynchronizable
    }

    /// The conditions of a search.
    public struct Condition: PasswordCondition {
        public var service: String?
        public var account: String?

        public init() {}

        public init(service: String? = nil, account: String? = nil) {
            self.service = service
            self.account = account
        }

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
    public static let itemClass = ItemClass.genericPassword

    public init(record: ItemRecord) {
        self.init(
            service: record[.service]?.text ?? "", account: record[.account]?.text ?? "",
            label: record[.label]?.text, comment: record[.comment]?.text, protection: record.protection,
            isSynchronizable: record.isSynchronizable)
        reference = record.persistentReference
    }

    public var primaryKey: [ItemAttribute: AttributeValue] {
        [
            .service: .string(service), .account: .string(account),
        ]
    }
}
