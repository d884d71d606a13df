// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
package import KeychainModel
internal import KeychainStore
package import LinuxSystem

/// The one place where the engines' errors become statuses.
extension KeychainError {
    init(_ error: StoreError) {
        switch error {
        case .keybag(let error): self.init(error)
        case .system(let error): self.init(error)
        case .database(let code, let message): self.init(sqlite: code, message)
        case .notAKeychain(let found):
            self.init(
                .notAvailable, "the file is not a keychain that can be used: \(found)",
                hint: "restore it from a backup; it is never replaced by an empty one")
        case .newerVersion(let found, let known):
            self.init(
                .wrongSecVersion,
                "the keychain was written by a newer version (format \(found), this program knows \(known))",
                hint: "update latchkey")
        case .unsafeFileSystem(let path, let kind):
            self.init(
                .notAvailable, "\(path) lies on \(kind), where a database shared by several processes is not safe",
                hint: "point LATCHKEY_HOME at a directory on a local disk")
        case .replaced(let path):
            self.init(
                .notAvailable, "\(path) was deleted or replaced while it was open, so nothing was stored",
                hint: "start the program anew")
        case .readOnly(let path):
            self.init(
                .readOnly, "\(path) lies on a read-only file system, so that nothing in it can be changed",
                hint: "mount it writable, or point LATCHKEY_HOME at a directory that can be written")
        case .pendingLog(let path):
            self.init(
                .notAvailable,
                "\(path) holds changes that cannot be read on a read-only file system, because its index is missing",
                hint:
                    "mount it writable and run latchkey status, or copy the data and state directories to where they can be written"
            )
        case .changedDuringRead(let path):
            self.init(
                .notAvailable, "\(path), which is read-only here, was changed from elsewhere during the call",
                hint: "try again")
        case .notABackup(let found):
            self.init(.decode, "this is not a backup that can be restored: \(found)", hint: "nothing was changed")
        case .newerBackup(let found, let known):
            self.init(
                .wrongSecVersion, "the backup was written by a newer version (\(found), this program knows \(known))",
                hint: "update latchkey")
        case .wrongPassphrase:
            self.init(
                .authFailed, "the passphrase is not the one of this backup, or the backup is damaged",
                hint: "nothing was changed")
        case .dryRunFinished: self.init(.internalFailure)
        case .quota(let problem):
            self.init(.diskFull, problem, hint: "delete items, or ask the administrator: /etc/latchkey/daemon.conf")
        case .resultTooLarge(let max):
            self.init(
                .allocate, "the items that match hold more than \(max >> 20) MiB", hint: "ask for fewer items at a time"
            )
        case .cancelled:
            self.init(.notAvailable, "the operation was cancelled, and nothing was changed", hint: "try again")
        case .closed: self.init(.notAvailable, "the keychain was closed while the call was on its way")
        case .duplicate: self = .duplicateItem
        case .refused(let error): self = error
        }
    }

    /// Whether a passcode was judged, and was wrong. Everything else that answers errSecAuthFailed is none: a delay that is running, a wrong
    /// passphrase of a backup, a wrong recovery key.
    package var isWrongPasscode: Bool {
        self == KeychainError(KeybagError.wrongPasscode) || self == KeychainError(KeybagError.wiped)
    }

    init(_ error: KeybagError) {
        switch error {
        case .system(let error): self.init(error)
        case .deviceKeyMissing(let path):
            self.init(
                .notAvailable, "the keychain is there, but its device key is missing: \(path ?? "in memory")",
                hint: "put the key back from a backup; without it nothing in this keychain can be opened")
        case .foreignDeviceKey:
            self.init(
                .notAvailable, "the device key belongs to another keychain",
                hint: "put back the key that was made together with this database")
        case .damaged(let found):
            self.init(
                .notAvailable, "the keybag is damaged: \(found)",
                hint: "restore a backup; the database is left as it is")
        case .newerVersion(let found, let known):
            self.init(
                .wrongSecVersion, "the keybag was written by a newer version (\(found), this program knows \(known))",
                hint: "update latchkey")
        case .closed:
            self.init(
                .interactionNotAllowed,
                hint:
                    "give the passcode: --passcode-file FILE, or LATCHKEY_PASSCODE_FILE in the environment; or, where latchkeyd runs: latchkey unlock"
            )
        case .unusablePasscode(let reason): self.init(.param, "this cannot be the passcode: \(reason)")
        case .wrongPasscode: self.init(.authFailed, "the passcode is wrong")
        case .passcodeDelay(let seconds):
            self.init(
                .authFailed, "after several wrong passcodes none is judged for another \(seconds) s",
                hint: "try again then")
        case .attemptsDamaged:
            self.init(
                .notAvailable, "the file that counts wrong passcodes is damaged",
                hint: "remove passcode.attempts beside the device key; no passcode is judged before")
        case .attemptsReadOnly(let path):
            self.init(
                .readOnly,
                "no passcode is judged, because a wrong one could not be counted: \(path) lies on a read-only file system",
                hint: "mount it writable, or copy the data and state directories to where they can be written")
        case .changedMeanwhile:
            self.init(
                .notAvailable, "another process has changed the passcode meanwhile, so nothing was done",
                hint: "try again")
        case .passcodeExists: self.init(.param, "a passcode is set already", hint: "latchkey passcode change")
        case .passcodeNeeded:
            self.init(
                .authFailed, "a passcode is set, and this needs it",
                hint: "give it with --passcode-file or --passcode-fd")
        case .noPasscode: self.init(.param, "no passcode is set", hint: "latchkey passcode set")
        case .unusableRecoveryKey(let reason): self.init(.param, "this is no recovery key: \(reason)")
        case .wrongRecoveryKey: self.init(.authFailed, "the recovery key is not one of this keychain")
        case .wiped:
            self.init(
                .authFailed,
                "that was the tenth wrong passcode: what the passcode protected is destroyed, as the settings say")
        case .noMemory(let reason): self.init(.allocate, reason)
        case .passcodeRequired:
            self.init(
                .notAvailable,
                "the class whenPasscodeSetThisDeviceOnly exists only while a passcode is set, and none is")
        case .wrongKey: self.init(.decode)
        }
    }

    package init(_ error: SystemError) {
        let status: OSStatusCode =
            switch error.code {
            case ENOSPC, EDQUOT: .diskFull
            case EROFS: .readOnly
            case EISDIR, ENOTDIR, EINVAL, ELOOP: .invalidKeychain
            case ENOMEM: .allocate
            case EIO: .io
            default: .notAvailable
            }
        let defaultHint: String? =
            switch error.code {
            case ENOSPC, EDQUOT: "free some space; what was acknowledged before is still there"
            case EROFS: "the file system is read-only; point LATCHKEY_HOME at one that is not"
            case EISDIR, ENOTDIR, EINVAL, ELOOP: "move it away, or point LATCHKEY_HOME elsewhere"
            case EACCES, EPERM: "check who owns the directory, or point LATCHKEY_HOME at one of your own"
            default: nil
            }
        self.init(status, error.description, hint: error.hint ?? defaultHint)
    }

    /// SQLite's primary result code is the lowest byte of the extended one.
    private init(sqlite code: Int32, _ message: String) {
        let text = "the database answered: \(message)"
        // SQLITE_IOERR_SHMSIZE: the shared memory of the log could not grow, which is what a full disk does to a reader.
        let isFull = code == 10 | (19 << 8)
        switch isFull ? 13 : code & 0xFF {
        case 13:
            self.init(
                .diskFull, "\(text) (disk full)",
                hint: "free some space, or delete items; what was acknowledged before is still there")
        case 8: self.init(.readOnly, text, hint: "the database, or its directory, may not be written by this user")
        case 7: self.init(.allocate, text)
        case 10:
            self.init(
                .io, "\(text) (input or output error \(code))", hint: "look at the system's log for a failing disk")
        case 5, 6:
            self.init(
                .notAvailable, "\(text) (another process holds it)",
                hint: "try again; latchkey doctor tells what is wrong")
        case 11, 26:
            self.init(
                .notAvailable, "the file is not a keychain that can be used: \(message)",
                hint: "restore it from a backup; it is never replaced by an empty one")
        case 3, 14, 23:
            self.init(.notAvailable, text, hint: "check that the directory exists, is yours and can be written")
        case 19: self.init(.duplicateItem, text)
        case 20: self.init(.noSuchAttribute, text)
        default: self.init(.notAvailable, "\(text) (code \(code))")
        }
    }
}
