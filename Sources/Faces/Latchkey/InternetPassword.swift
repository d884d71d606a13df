// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The password of an account on a server. Server, account, protocol, port, path, security domain
/// and authentication type identify the item.
public struct InternetPassword: PasswordItem, Hashable {
    public var server: String
    public var account: String
    /// The protocol as Apple's four letters, such as `htps`; see ``Scheme``.
    public var scheme: Scheme?
    public var port: UInt16?
    public var path: String
    public var securityDomain: String
    /// The authentication type as Apple's four letters, such as `dflt`.
    public var authenticationType: String
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
        server: String, account: String = "", scheme: Scheme? = nil, port: UInt16? = nil, path: String = "",
        securityDomain: String = "",
        authenticationType: String = "", label: String? = nil, comment: String? = nil,
        protection: ProtectionClass? = nil,
        isSynchronizable: Bool = false
    ) {
        self.server = server
        self.account = account
        self.scheme = scheme
        self.port = port
        self.path = path
        self.securityDomain = securityDomain
        self.authenticationType = authenticationType
        self.label = label
        self.comment = comment
        self.protection = protection
        self.isSynchronizable = isSynchronizable
    }

    /// The conditions of a search.
    public struct Condition: PasswordCondition {
        public var server: String?
        public var account: String?
        public var scheme: Scheme?

        public init() {}

        public init(server: String? = nil, account: String? = nil, scheme: Scheme? = nil) {
            self.server = server
            self.account = account
            self.scheme = scheme
        }

        public var attributes: [ItemAttribute: AttributeValue] {
            var attributes: [ItemAttribute: AttributeValue] = [:]
            if let server { attributes[.server] = .string(server) }
            if let account { attributes[.account] = .string(account) }
            if let scheme { attributes[.protocol] = .string(scheme.rawValue) }
            return attributes
        }
    }
}

// MARK: PasswordItem

extension InternetPassword {
    public static let itemClass = ItemClass.internetPassword

    public init(record: ItemRecord) {
        self.init(
            server: record[.server]?.text ?? "", account: record[.account]?.text ?? "",
            scheme: record[.protocol]?.text.map(Scheme.init(rawValue:)), port: UInt16(record: record),
            path: record[.path]?.text ?? "",
            securityDomain: record[.securityDomain]?.text ?? "",
            authenticationType: record[.authenticationType]?.text ?? "",
            label: record[.label]?.text, comment: record[.comment]?.text, protection: record.protection,
            isSynchronizable: record.isSynchronizable)
        reference = record.persistentReference
    }

    public var primaryKey: [ItemAttribute: AttributeValue] {
        [
            .server: .string(server), .account: .string(account),
            .protocol: scheme.map { .string($0.rawValue) } ?? .number(0),
            .port: .number(Int64(port ?? 0)), .path: .string(path), .securityDomain: .string(securityDomain),
            .authenticationType: .string(authenticationType),
        ]
    }
}

extension InternetPassword {
    /// The protocol of the server, as Apple's four letters (keychain-behaviour §1.6).
    public struct Scheme: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let http = Scheme(rawValue: "http")
        public static let https = Scheme(rawValue: "htps")
        public static let ftp = Scheme(rawValue: "ftp ")
        public static let ftps = Scheme(rawValue: "ftps")
        public static let ssh = Scheme(rawValue: "ssh ")
        public static let smb = Scheme(rawValue: "smb ")
        public static let imap = Scheme(rawValue: "imap")
        public static let imaps = Scheme(rawValue: "imps")
        public static let smtp = Scheme(rawValue: "smtp")
        public static let ldap = Scheme(rawValue: "ldap")
        public static let ldaps = Scheme(rawValue: "ldps")
    }
}

extension UInt16 {
    /// The port of an item; nil if it has none.
    fileprivate init?(record: ItemRecord) {
        guard case .number(let number)? = record[.port], number != 0, let port = UInt16(exactly: number) else {
            return nil
        }
        self = port
    }
}
