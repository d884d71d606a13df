// SPDX-License-Identifier: Apache-2.0

/// Counts of the items in a backup.
public struct BackupReport: Sendable, Equatable {
    /// Items that can be restored on any device.
    public var portable = 0
    /// Items that can be restored on this device only.
    public var deviceBound = 0
    /// Items that are never backed up: those of the class whenPasscodeSetThisDeviceOnly, and those
    /// with constraints.
    public var staying = 0
    /// Items that were left out because they are damaged.
    public var damaged = 0
    /// Files of items that were saved.
    public var files = 0
    /// Files that were not found; their items were saved.
    public var missingFiles = 0
    /// Keys that were left out because they are not extractable, and neither the passcode nor the
    /// caller's option includes them.
    public var notExtractable = 0
    /// Labels or tags of the first of those, at most ``maxNames``.
    public var notExtractableNames: [String] = []

    public init() {}

    /// Counts a key that is left out because it is not extractable.
    public mutating func recordNonExtractable(_ key: ItemRecord) {
        notExtractable += 1
        guard notExtractableNames.count < Self.maxNames else { return }
        let name =
            [key[.label]?.text, key[.applicationTag]?.text].compactMap { $0 }.first { !$0.isEmpty }
            ?? "a key without a label"
        notExtractableNames.append(String(name.prefix(Self.maxNameLength)))
    }

    public static let maxNames = 16
    public static let maxNameLength = 100
}

/// Counts of the items that a restore has read and changed.
public struct RestoreReport: Sendable, Equatable {
    /// Items of the backup that can be restored here.
    public var items = 0
    /// Of `items`: added.
    public var added = 0
    /// Of `items`: replaced an older item.
    public var replaced = 0
    /// Of `items`: the keychain has exactly this item.
    public var equal = 0
    /// Of `items`: left out because the existing item is newer.
    public var kept = 0
    /// Items that can be restored on another device only.
    public var foreign = 0
    /// Existing items that were deleted, tombstones included.
    public var deleted = 0
    /// Items that were rejected because no program could have stored them in this keychain.
    public var refused = 0
    /// Files of the backup that were restored, or existed already.
    public var files = 0
    /// The reasons, each one once, at most ``maxReasons``.
    public var refusals: [String] = []

    public init() {}

    /// Counts an item that is rejected, and records the reason.
    public mutating func refuse(_ reason: String) {
        refused += 1
        if refusals.count < Self.maxReasons, !refusals.contains(reason) { refusals.append(reason) }
    }

    public static let maxReasons = 16
}
