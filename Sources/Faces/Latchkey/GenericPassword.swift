// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A secret under a service and an account: the usual item of a program.
public struct GenericPassword: PasswordItem, Hashable {
    public var service: String
    public var account: String
    /// What the user sees the item called.
    public var label: String?
    public var comment: String?
    /// When the item can be opened; nil for the usual class, or, in an update, for the one it has.
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

    /// What a search may ask for.
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
