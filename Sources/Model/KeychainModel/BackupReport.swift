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

    public init() {}
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

    public init() {}
}
