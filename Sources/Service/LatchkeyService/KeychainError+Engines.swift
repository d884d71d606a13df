// SPDX-License-Identifier: Apache-2.0

package import FileProtection
internal import Glibc
internal import Keybag
package import KeychainModel
internal import KeychainStore
package import LinuxSystem

/// Maps the errors of all engines to statuses. No other file does.
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
                "the keychain was written by a newer version (format \(found), this program supports \(known))",
                hint: "update latchkey")
        case .unsafeFileSystem(let path, let kind):
            self.init(
                .notAvailable, "\(path) is on \(kind); a database shared by several processes is not safe there",
                hint: "point LATCHKEY_HOME at a directory on a local disk")
        case .replaced(let path):
            self.init(
                .notAvailable, "\(path) was deleted or replaced while it was open, so nothing was stored",
                hint: "restart the program")
        case .readOnly(let path):
            self.init(
                .readOnly, "\(path) is on a read-only file system and cannot be changed",
                hint: "mount it read-write, or point LATCHKEY_HOME at a writable directory")
        case .pendingLog(let path):
            self.init(
                .notAvailable,
                "\(path) holds changes that cannot be read without writing, because its index is missing",
                hint:
                    "run latchkey status where the files can be written, or copy the data and state directories to a writable file system"
            )
        case .changedDuringRead(let path):
            self.init(
                .notAvailable, "\(path) was changed by another program during the call",
                hint: "try again")
        case .inUse: self = .databaseInUse
        case .notABackup(let found):
            self.init(.decode, "this is not a backup that can be restored: \(found)", hint: "nothing was changed")
        case .newerBackup(let found, let known):
            self.init(
                .wrongSecVersion,
                "the backup was written by a newer version (\(found), this program supports \(known))",
                hint: "update latchkey")
        case .wrongPassphrase:
            self.init(
                .authFailed, "the passphrase is wrong, or the backup is damaged",
                hint: "nothing was changed")
        case .dryRunFinished, .derivationPending: self.init(.internalFailure)
        case .tooManyDerivations(let max):
            self.init(
                .param,
                "the matching items were stored with more than \(max) salts of application passwords, the maximum of one call",
                hint: "select fewer items at a time")
        case .quota(let problem):
            self.init(.diskFull, problem, hint: "delete items, or ask the administrator: /etc/latchkey/daemon.conf")
        case .resultTooLarge(let max):
            self.init(
                .allocate, "the matching items hold more than \(max >> 20) MiB", hint: "ask for fewer items at a time"
            )
        case .cancelled:
            self.init(.notAvailable, "the operation was cancelled, and nothing was changed", hint: "try again")
        case .closed: self.init(.notAvailable, "the keychain was closed during the call")
        case .duplicate: self = .duplicateItem
        case .authenticationNeeded:
            self.init(.interactionNotAllowed, "the access control of the item requires authentication")
        case .itemsRequireSecurityKey(let count):
            self.init(
                .param, "\(count == 1 ? "1 item opens" : "\(count) items open") only with this security key",
                hint: "change their access control first, or delete them with the key")
        case .constraintLost:
            self.init(.itemNotFound, "the enrolled biometry has changed, so the item is lost")
        case .wrongApplicationPassword: self.init(.authFailed, "the application password of the item is wrong")
        case .refused(let error): self = error
        }
    }

    /// Whether a passcode was checked and found wrong. errSecAuthFailed has other causes, too: a
    /// running delay, a wrong passphrase of a backup, a wrong recovery key.
    package var isWrongPasscode: Bool {
        var plain = self
        plain.authentication = nil
        return plain == KeychainError(KeybagError.wrongPasscode) || plain == KeychainError(KeybagError.wiped)
    }

    init(_ error: KeybagError) {
        switch error {
        case .system(let error): self.init(error)
        case .deviceKeyMissing(let path):
            self.init(
                .notAvailable, "the keychain exists, but its device key is missing: \(path ?? "in memory")",
                hint: "restore the device key from a backup; without it no item in this keychain can be opened")
        case .hardware(let error): self = error
        case .foreignDeviceKey:
            self.init(
                .notAvailable, "the device key belongs to another keychain",
                hint: "restore the device key that was created with this database")
        case .damaged(let found):
            self.init(
                .notAvailable, "the keybag is damaged: \(found)",
                hint: "restore a backup; the database was not changed")
        case .newerVersion(let found, let known):
            self.init(
                .wrongSecVersion,
                "the keybag was written by a newer version (\(found), this program supports \(known))",
                hint: "update latchkey")
        case .closed:
            self.init(
                .interactionNotAllowed,
                hint:
                    "give the passcode: --passcode-file FILE, or LATCHKEY_PASSCODE_FILE in the environment; or, if latchkeyd is running: latchkey unlock"
            )
        case .unusablePasscode(let reason): self.init(.param, "unusable passcode: \(reason)")
        case .wrongPasscode: self.init(.authFailed, "the passcode is wrong")
        case .passcodeLimitReached:
            self.init(
                .authFailed, "the TPM has counted too many wrong passcodes, and accepts none any more",
                hint: "latchkey recovery-key use: the recovery key sets a new passcode")
        case .rolledBack(let found, let expected):
            self.init(
                .notAvailable,
                "the keychain is an older copy: it has the change number \(found), the TPM has \(expected)",
                hint:
                    "put the newer data and state directories back; or accept this copy: latchkey recovery-key use"
            )
        case .passcodeDelay(let seconds):
            self.init(
                .authFailed, "too many wrong passcodes: no passcode is checked for another \(seconds) s",
                hint: "try again after that time")
        case .attemptsDamaged:
            self.init(
                .notAvailable, "the file that counts wrong passcodes is damaged",
                hint: "remove passcode.attempts beside the device key; until then no passcode is checked")
        case .attemptsReadOnly(let path):
            self.init(
                .readOnly,
                "no passcode is checked, because a wrong one could not be counted: \(path) is on a read-only file system",
                hint: "mount it read-write, or copy the data and state directories to a writable file system")
        case .changedMeanwhile:
            self.init(
                .notAvailable, "another process changed the passcode during the call, so nothing was changed",
                hint: "try again")
        case .passcodeExists: self.init(.param, "a passcode is set already", hint: "latchkey passcode change")
        case .passcodeNeeded:
            self.init(
                .authFailed, "a passcode is set, and this operation requires it",
                hint: "give it with --passcode-file or --passcode-fd")
        case .noPasscode: self.init(.param, "no passcode is set", hint: "latchkey passcode set")
        case .unusableRecoveryKey(let reason): self.init(.param, "not a recovery key: \(reason)")
        case .wrongRecoveryKey: self.init(.authFailed, "the recovery key does not belong to this keychain")
        case .wiped:
            self.init(
                .authFailed,
                "this was the tenth wrong passcode: the items that the passcode protected were destroyed, as configured"
            )
        case .noMemory(let reason): self.init(.allocate, reason)
        case .passcodeRequired:
            self.init(
                .notAvailable,
                "the class whenPasscodeSetThisDeviceOnly requires a passcode, but no passcode is set")
        case .wrongKey: self.init(.decode)
        case .constraintNeedsPasscode(let constraint):
            self.init(
                .authFailed, "an access control with \(constraint) requires a passcode, but no passcode is set",
                hint: "latchkey passcode set")
        case .presenceKeyMissing(.securityKey):
            self.init(.authFailed, "no security key is enrolled in this keychain")
        case .presenceKeyMissing, .olderKeybag:
            self.init(
                .interactionNotAllowed,
                "the passcode was set by an older version: its keys for access control are created at the next unlock",
                hint: "latchkey unlock")
        case .enrolledSetNeeded:
            self.init(.authFailed, "biometryCurrentSet requires that biometry is enrolled")
        case .derivationNeeded: self.init(.internalFailure)
        case .applicationPasswordNeeded:
            self.init(.authFailed, "an access control with applicationPassword requires that password")
        case .lockedDuringEvaluation:
            self.init(.interactionNotAllowed, "the keychain was locked while the person was asked")
        case .biometryUnavailable:
            self.init(
                .interactionNotAllowed,
                "biometry cannot satisfy an access control: only latchkeyd keeps its key, while it is unlocked")
        case .wrongSecurityKey: self.init(.authFailed, "the security key is not enrolled in this keychain")
        case .securityKeyExists: self.init(.duplicateItem, "the security key is enrolled already")
        case .tooManySecurityKeys(let max):
            self.init(.param, "the keychain has \(max) security keys, the maximum")
        case .unusableSecurityKey(let reason): self.init(.param, "the security key cannot be enrolled: \(reason)")
        case .cryptographyFailed(let message): self.init(.notAvailable, "libcrypto reported: \(message)")
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
            case ENOSPC, EDQUOT: "free some space; every change that was acknowledged before is kept"
            case EROFS: "the file system is read-only; point LATCHKEY_HOME at a writable one"
            case EISDIR, ENOTDIR, EINVAL, ELOOP: "move it away, or point LATCHKEY_HOME elsewhere"
            case EACCES, EPERM: "check the owner of the directory, or point LATCHKEY_HOME at a directory of your own"
            default: nil
            }
        self.init(status, error.description, hint: error.hint ?? defaultHint)
    }

    /// The error of a file that is not one of the keychain's own.
    package init(ofFile error: SystemError) {
        let defaultHint: String? =
            switch error.code {
            case ENOSPC, EDQUOT: "free some space; the file is as it was"
            case EACCES, EPERM: "check the owner and the mode of the file and its directory"
            default: nil
            }
        let general = KeychainError(error)
        let status: OSStatusCode =
            switch general.status {
            case .invalidKeychain: .param
            // A missing file of the keychain is another matter.
            case .notAvailable where error.code == ENOENT: .io
            default: general.status
            }
        self.init(status, error.description, hint: error.hint ?? defaultHint)
    }

    /// The error of a protected file.
    ///
    /// - Parameter path: the file, for the message.
    package init(_ error: FileProtectionError, path: String) {
        if case .key(let cause) = error {
            self = cause
            return
        }
        if case .system(let cause) = error {
            self.init(ofFile: cause)
            return
        }
        let status: OSStatusCode =
            switch error {
            case .notProtected, .unsuitable: .param
            case .unsupportedVersion: .wrongSecVersion
            case .damaged, .headersDisagree, .wrongKey: .decode
            case .inUse, .closed, .interrupted, .changedMeanwhile: .notAvailable
            case .readOnly: .readOnly
            case .tooLarge, .keyExhausted: .dataTooLarge
            case .key, .system: .internalFailure
            }
        self.init(status, "\(path): \(error)", hint: Self.hint(of: error))
    }

    private static func hint(of error: FileProtectionError) -> String? {
        switch error {
        case .notProtected: "latchkey protect --class complete FILE"
        case .unsupportedVersion: "update latchkey"
        case .headersDisagree: "latchkey protect repair FILE, or restore the file from a backup"
        case .damaged, .wrongKey: "restore the file from a backup"
        case .keyExhausted: "latchkey protect rekey --new-keys FILE"
        case .inUse, .changedMeanwhile: "close it in the other program, and try again"
        default: nil
        }
    }

    /// A report does not wait for a process that has locked the database.
    package static let databaseInUse = KeychainError(
        .notAvailable, "the database is in use: another process has locked it",
        hint: "try again when that program has finished or ended")

    /// Maps an SQLite result code; its lowest byte is the primary code.
    private init(sqlite code: Int32, _ message: String) {
        let text = "the database reported: \(message)"
        // SQLITE_IOERR_SHMSIZE: the shared memory of the write-ahead log could not grow. A reader
        // gets this code when the disk is full.
        let isFull = code == 10 | (19 << 8)
        switch isFull ? 13 : code & 0xFF {
        case 13:
            self.init(
                .diskFull, "\(text) (disk full)",
                hint: "free some space, or delete items; every change that was acknowledged before is kept")
        case 8: self.init(.readOnly, text, hint: "this user may not write the database or its directory")
        case 7: self.init(.allocate, text)
        case 10:
            self.init(
                .io, "\(text) (input or output error \(code))", hint: "check the system log for a failing disk")
        case 5, 6:
            self.init(
                .notAvailable, "\(text) (another process holds it)",
                hint: "try again; latchkey doctor shows the problem")
        case 11, 26:
            self.init(
                .notAvailable, "the file is not a keychain that can be used: \(message)",
                hint: "restore it from a backup; it is never replaced by an empty one")
        case 3, 14, 23:
            self.init(.notAvailable, text, hint: "check that the directory exists, belongs to you and is writable")
        case 19: self.init(.duplicateItem, text)
        case 20: self.init(.noSuchAttribute, text)
        default: self.init(.notAvailable, "\(text) (code \(code))")
        }
    }
}
