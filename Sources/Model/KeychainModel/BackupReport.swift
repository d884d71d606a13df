// SPDX-License-Identifier: Apache-2.0

/// What went into a backup.
public struct BackupReport: Sendable, Equatable {
    /// Items that can be restored anywhere.
    public var portable = 0
    /// Items that can be restored on this device only.
    public var deviceBound = 0
    /// Items that never leave: those of the class whenPasscodeSetThisDeviceOnly.
    public var staying = 0
    /// Items that were left out because they are damaged.
    public var damaged = 0
    /// Keys that were left out because they may not be extracted, and neither the passcode nor the caller's word let them out.
    public var notExtractable = 0
    /// Labels or tags of the first of those, ``maxNames`` at most.
    public var notExtractableNames: [String] = []

    public init() {}

    /// Counts a key that is left out because it may not be extracted.
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

/// What came out of one.
public struct RestoreReport: Sendable, Equatable {
    /// Items of the backup that can be restored here.
    public var items = 0
    /// Of those: new ones.
    public var added = 0
    /// Of those: ones that replaced an older item.
    public var replaced = 0
    /// Of those: ones that were left out because the item here is newer.
    public var kept = 0
    /// Items that another device keeps to itself.
    public var foreign = 0
    /// Items that were here and were deleted, tombstones included.
    public var deleted = 0
    /// Items that no program could have stored here, and that were not restored.
    public var refused = 0
    /// Why, each reason once, ``maxReasons`` at most.
    public var refusals: [String] = []

    public init() {}

    /// Counts an item that is not restored.
    public mutating func refuse(_ reason: String) {
        refused += 1
        if refusals.count < Self.maxReasons, !refusals.contains(reason) { refusals.append(reason) }
    }

    public static let maxReasons = 16
}
