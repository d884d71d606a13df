// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
public import LinuxSystem

/// Why the store could not do what it was asked.
public enum StoreError: Error, Sendable {
    case keybag(KeybagError)
    case system(SystemError)
    /// SQLite's extended result code and its text.
    case database(code: Int32, message: String)
    /// The file is there, but is no keychain: the words say what was found.
    case notAKeychain(String)
    /// The database was written by a newer version.
    case newerVersion(found: Int, known: Int)
    /// The file lies where SQLite's log is unsafe.
    case unsafeFileSystem(path: String, kind: String)
    /// The file was deleted or replaced while it was open.
    case replaced(path: String)
    /// The file lies on a read-only file system, and the call would change it.
    case readOnly(path: String)
    /// The file lies on a read-only file system, and its log, of this path, holds changes and has no index.
    case pendingLog(path: String)
    /// The file lies on a file system that is read-only here, and was changed from elsewhere during the call.
    case changedDuringRead(path: String)
    /// The store was closed before the call.
    case closed
    /// The words say why this is no backup, or no whole one.
    case notABackup(String)
    /// The backup was written by a newer version.
    case newerBackup(found: UInt16, known: UInt16)
    /// The passphrase is not the backup's, or the backup's beginning is damaged.
    case wrongPassphrase
    /// A rehearsal has come to its end and is taken back.
    case dryRunFinished
    /// The result is no longer wanted, and nothing was changed (`Cancellation`).
    case cancelled
    /// The keychain is as large as it may be; the words say in what.
    case quota(String)
    /// The items that match hold more bytes than are given at a time (`ResultLimit`).
    case resultTooLarge(max: Int)
    /// A live item has the same primary key.
    case duplicate
    /// The change that an update asked for is not allowed.
    case refused(KeychainError)
}
