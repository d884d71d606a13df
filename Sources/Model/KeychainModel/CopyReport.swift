// SPDX-License-Identifier: Apache-2.0

/// An item whose secret was found in other bytes.
public struct CopiedItem: Sendable, Hashable {
    public let itemClass: ItemClass
    /// Its label, service, server, account or tag, at most ``maxNameLength`` characters; never its secret.
    public let name: String
    public let accessGroup: String

    public static let maxNameLength = 200

    public init(itemClass: ItemClass, name: String, accessGroup: String) {
        (self.itemClass, self.name, self.accessGroup) = (itemClass, name, accessGroup)
    }

    public init(_ record: ItemRecord) {
        itemClass = record.itemClass
        accessGroup = record.accessGroup.name
        let place = Self.first([.service, .server, .label, .applicationTag], of: record)
        let account = Self.first([.account], of: record)
        let parts = [place, account.map { place == nil ? $0 : "(\($0))" }].compactMap { $0 }
        name = String(
            (parts.isEmpty ? "an item without a name" : parts.joined(separator: " ")).prefix(Self.maxNameLength))
    }

    private static func first(_ attributes: [ItemAttribute], of record: ItemRecord) -> String? {
        attributes.lazy.compactMap { record[$0]?.text }.first { !$0.isEmpty }
    }
}

/// A copy of an item's secret in a stream of bytes.
public struct CopyMatch: Sendable, Hashable {
    /// The number of bytes of the stream before the copy.
    public let position: UInt64
    public let item: CopiedItem

    public init(position: UInt64, item: CopiedItem) { (self.position, self.item) = (position, item) }
}

/// Counts of the items that were compared with a stream of bytes, and of those that were left out.
public struct CopyReport: Sendable, Equatable {
    public var compared = 0
    /// Their protection class is locked.
    public var locked = 0
    /// They have an access control, or may not leave the keychain.
    public var guarded = 0
    /// Their secrets have fewer than ``minLength`` bytes, and would be found everywhere.
    public var short = 0
    /// Their secrets are on lists of common passwords.
    public var common = 0
    /// Their secrets have more than ``maxLength`` bytes.
    public var long = 0
    public var damaged = 0

    public static let minLength = 8
    public static let maxLength = 64 << 10

    public init() {}
}
