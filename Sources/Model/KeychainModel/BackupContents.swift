// SPDX-License-Identifier: Apache-2.0

/// The optional contents of a backup, in addition to the items that are always in it.
public struct BackupContents: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Keys that are not extractable, also if the passcode of the keychain is not given.
    public static let nonExtractableKeys = BackupContents(rawValue: 1)
    /// The files that items stand for.
    public static let files = BackupContents(rawValue: 2)
}
