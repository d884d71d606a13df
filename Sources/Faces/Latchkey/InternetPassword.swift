// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The password of an account on a server. Server, account, protocol, port, path, security domain
/// and authentication type identify the item.
public struct InternetPassword: PasswordItem, Hashable {
    /// The host name or address of the server.
    public var server: String
    /// The name of the account on the server; empty for none.
    public var account: String
    /// The protocol as Apple's four letters, such as `htps`; see ``Scheme``.
    public var scheme: Scheme?
    /// The port, from 1 to 65535; nil for none.
    public var port: UInt16?
    /// The path of the URL; empty for none.
    public var path: String
    /// The realm of the authentication; empty for none.
    public var securityDomain: String
    /// The authentication type as Apple's four letters, such as `dflt`.
    public var authenticationType: String
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
        server: String, account: String = "", scheme: Scheme? = nil, port: UInt16? = nil, path: String = "",
        securityDomain: String = "",
        authenticationType: String = "", label: String? = nil, comment: String? = nil,
        protection: ProtectionClass? = nil, accessControl: AccessControl? = nil, isSynchronizable: Bool = false
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
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
    }

    /// The conditions of a search.
    public struct Condition: PasswordCondition {
        /// The server of the items; nil for any.
        public var server: String?
        /// The account of the items; nil for any.
        public var account: String?
        /// The protocol of the items; nil for any.
        public var scheme: Scheme?

        /// The condition that matches all items.
        public init() {}

        /// Matches items with these values; nil matches every value.
        public init(server: String? = nil, account: String? = nil, scheme: Scheme? = nil) {
            self.server = server
            self.account = account
            self.scheme = scheme
        }

        /// The attributes that a matching item has.
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
    /// ``ItemClass/internetPassword``.
    public static let itemClass = ItemClass.internetPassword

    /// The item as read from the keychain. A server or an account that is not text is empty;
    /// ``reference`` still identifies the item.
    public init(record: ItemRecord) {
        self.init(
            server: record[.server]?.text ?? "", account: record[.account]?.text ?? "",
            scheme: record[.protocol]?.text.map(Scheme.init(rawValue:)), port: UInt16(record: record),
            path: record[.path]?.text ?? "",
            securityDomain: record[.securityDomain]?.text ?? "",
            authenticationType: record[.authenticationType]?.text ?? "",
            label: record[.label]?.text, comment: record[.comment]?.text, protection: record.protection,
            accessControl: AccessControl(of: record), isSynchronizable: record.isSynchronizable)
        reference = record.persistentReference
    }

    /// Server, account, protocol, port, path, security domain and authentication type.
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
        /// Apple's four letters; the last can be a blank.
        public let rawValue: String
        /// A protocol by Apple's four letters.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// HTTP: `http`.
        public static let http = Scheme(rawValue: "http")
        /// HTTP over TLS: `htps`.
        public static let https = Scheme(rawValue: "htps")
        /// FTP: `ftp` and a blank.
        public static let ftp = Scheme(rawValue: "ftp ")
        /// FTP over TLS: `ftps`.
        public static let ftps = Scheme(rawValue: "ftps")
        /// SSH: `ssh` and a blank.
        public static let ssh = Scheme(rawValue: "ssh ")
        /// SMB: `smb` and a blank.
        public static let smb = Scheme(rawValue: "smb ")
        /// IMAP: `imap`.
        public static let imap = Scheme(rawValue: "imap")
        /// IMAP over TLS: `imps`.
        public static let imaps = Scheme(rawValue: "imps")
        /// SMTP: `smtp`.
        public static let smtp = Scheme(rawValue: "smtp")
        /// LDAP: `ldap`.
        public static let ldap = Scheme(rawValue: "ldap")
        /// LDAP over TLS: `ldps`.
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
