// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Keybag
public import KeychainModel
public import LinuxSystem

/// An error of the store.
public enum StoreError: Error, Sendable {
    case keybag(KeybagError)
    case system(SystemError)
    /// SQLite's extended result code and message.
    case database(code: Int32, message: String)
    /// The file exists, but is not a keychain; the text describes its content.
    case notAKeychain(String)
    /// The database was written by a newer version.
    case newerVersion(found: Int, known: Int)
    /// The file is on a file system where SQLite's log is unsafe.
    case unsafeFileSystem(path: String, kind: String)
    /// The file was deleted or replaced while it was open.
    case replaced(path: String)
    /// The file is on a read-only file system, and the call would change it.
    case readOnly(path: String)
    /// The file is on a read-only file system, or is inspected, and its log at `path` holds changes but
    /// has no index.
    case pendingLog(path: String)
    /// Another process has locked the database, and an inspection does not wait for it.
    case inUse
    /// The file is on a file system that is mounted read-only here, or is inspected, and was changed
    /// by another program during the call.
    case changedDuringRead(path: String)
    /// The store was closed before the call.
    case closed
    /// The file is not a complete backup; the text says why.
    case notABackup(String)
    /// The backup was written by a newer version.
    case newerBackup(found: UInt16, known: UInt16)
    /// The passphrase does not match the backup, or the first bytes of the backup are damaged.
    case wrongPassphrase
    /// A dry run has finished and is rolled back.
    case dryRunFinished
    /// Keys of an application password must be derived first. The store ends the access to the
    /// database, derives them, and repeats the access; no caller receives this error.
    case derivationPending
    /// The items of one call need more than `max` keys of an application password.
    case tooManyDerivations(max: Int)
    /// The caller has cancelled the operation (`Cancellation`); nothing was changed.
    case cancelled
    /// The keychain has reached its quota; the text names the limit.
    case quota(String)
    /// The matching items hold more than `max` bytes, the limit of one result (`ResultLimit`).
    case resultTooLarge(max: Int)
    /// A live item has the same primary key.
    case duplicate
    /// The secrets of an item must be opened, and these constraints are not satisfied.
    case authenticationNeeded(AccessConstraints, ItemIdentifier)
    /// So many items open only with the security key that is to be removed.
    case itemsRequireSecurityKey(count: Int)
    /// The item was bound to another enrolled set: the item is lost, and must be deleted.
    case constraintLost(ItemIdentifier)
    /// The application password of an item is wrong.
    case wrongApplicationPassword(ItemIdentifier)
    /// The change of an update is not allowed.
    case refused(KeychainError)
}

extension StoreError {
    /// Whether the disk or the quota is full. The same change may succeed later.
    var isFull: Bool {
        switch self {
        case .database(let code, _): code & 0xFF == Self.sqliteFull || code == Self.indexFull
        case .quota: true
        case .system(let error), .keybag(.system(let error)): error.code == ENOSPC || error.code == EDQUOT
        default: false
        }
    }

    /// SQLITE_FULL.
    static let sqliteFull: Int32 = 13
    /// SQLITE_IOERR_SHMSIZE: the index of the log could not grow.
    private static let indexFull: Int32 = 10 | (19 << 8)
}
