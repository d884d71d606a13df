// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import LinuxSystem

/// A password without its secret, in the shape of the daily commands' JSON.
struct ItemReport: Encodable {
    /// The name of the item for the daily commands.
    var name: String
    /// `generic` or `internet`.
    var passwordClass: String
    var accessGroup: String
    /// The service of a generic password.
    var service: String?
    /// The server, protocol, port and path of an internet password; absent if they are not set.
    var server: String?
    var networkProtocol: String?
    var port: Int64?
    var path: String?
    var account: String
    var label: String?
    var comment: String?
    /// Apple's code of the protection class, and its name.
    var protection: String
    var protectionName: String
    /// The requirements of each use, in the form of `--access-control`; absent if there are none.
    var accessControl: String?
    var synchronizable: Bool
    /// UTC, as `2026-11-22T12:00:00Z`.
    var created: String
    var modified: String

    enum CodingKeys: String, CodingKey {
        case name, accessGroup, service, server, port, path, account, label, comment, accessControl
        case protection, protectionName
        case synchronizable
        case created, modified
        case passwordClass = "class"
        case networkProtocol = "protocol"
    }

    init(_ record: ItemRecord) {
        let isInternet = record.itemClass == .internetPassword
        name = record.passwordName.text
        passwordClass = (isInternet ? PasswordClass.internet : .generic).rawValue
        accessGroup = record.accessGroup.name
        service = isInternet ? nil : Self.text(record[.service]) ?? ""
        account = Self.text(record[.account]) ?? ""
        if isInternet {
            server = Self.text(record[.server]) ?? ""
            networkProtocol = Self.text(record[.protocol])
            port = Self.port(record[.port])
            path = Self.text(record[.path])
        }
        label = Self.text(record[.label])
        comment = Self.text(record[.comment])
        protection = record.protection.rawValue
        protectionName = record.protection.name
        accessControl = record.accessControlFlags?.text
        synchronizable = record.isSynchronizable
        created = Self.time(record.created)
        modified = Self.time(record.modified)
    }

    /// Returns the text of a value, or the hexadecimal digits of data that is not UTF-8; nil if the
    /// value is unset or empty.
    fileprivate static func text(_ value: AttributeValue?) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .data(let bytes):
            bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self) ?? Hexadecimal.text(bytes)
        case .number(let number): number == 0 ? nil : "\(number)"
        case .date, nil: nil
        }
    }

    private static func port(_ value: AttributeValue?) -> Int64? {
        if case .number(let number)? = value, number != 0 { number } else { nil }
    }

    /// - Parameter seconds: since 2001-01-01 00:00:00 UTC.
    static func time(_ seconds: Double) -> String {
        Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
    }
}

/// Sorts items by name, then by access group and class.
struct ItemSortKey: Comparable {
    let name: String
    let accessGroup: String
    let passwordClass: String
    private let networkProtocol: String
    private let path: String

    init(_ record: ItemRecord) {
        let isInternet = record.itemClass == .internetPassword
        name = record.passwordName.text
        accessGroup = record.accessGroup.name
        passwordClass = (isInternet ? PasswordClass.internet : .generic).rawValue
        networkProtocol = isInternet ? ItemReport.text(record[.protocol]) ?? "" : ""
        path = isInternet ? ItemReport.text(record[.path]) ?? "" : ""
    }

    static func < (one: ItemSortKey, other: ItemSortKey) -> Bool {
        if one.name != other.name { return one.name < other.name }
        if one.accessGroup != other.accessGroup { return one.accessGroup < other.accessGroup }
        if one.passwordClass != other.passwordClass { return one.passwordClass < other.passwordClass }
        if one.networkProtocol != other.networkProtocol { return one.networkProtocol < other.networkProtocol }
        return one.path < other.path
    }
}
