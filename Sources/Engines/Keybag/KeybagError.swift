// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// Why a keybag operation failed.
public enum KeybagError: Error, Sendable {
    /// The device key's file could not be read or created.
    case system(SystemError)
    /// The keychain exists, but its device key does not.
    case deviceKeyMissing(path: String?)
    /// The hardware that holds the device key failed, or is not there.
    case hardware(KeychainError)
    /// The keybag was made with another device key.
    case foreignDeviceKey
    /// The keybag was changed or damaged; the text names the problem.
    case damaged(String)
    /// The keybag was written by a newer version.
    case newerVersion(found: UInt16, known: UInt16)
    /// The class has no key, because it needs a passcode and none is set.
    case passcodeRequired(ProtectionClass)
    /// A wrapped key did not unwrap: it was changed, or it belongs to another class or generation.
    case wrongKey
    /// The class is locked: the keychain is locked, or was not unlocked since its service started.
    case closed(ProtectionClass)
    /// The passcode is not valid, or not valid as a new one; the text says why.
    case unusablePasscode(String)
    case wrongPasscode
    /// The hardware has counted too many wrong passcodes, and releases its part of the key no more.
    case passcodeLimitReached
    /// The keybag is an older copy: it has another number than the counter in the hardware.
    case rolledBack(found: UInt64, expected: UInt64)
    /// Too many wrong passcodes: the next one can be tried after this number of seconds.
    case passcodeDelay(seconds: Int)
    /// Another process changed the keybag during this operation.
    case changedMeanwhile
    /// The file that counts wrong passcodes was changed or damaged.
    case attemptsDamaged
    /// Attempts cannot be counted, because the directory is on a read-only file system. So no
    /// passcode is verified.
    case attemptsReadOnly(path: String)
    /// The operation requires that no passcode is set, but one is.
    case passcodeExists
    /// A passcode is set, and the request must contain it.
    case passcodeNeeded
    /// The operation requires a passcode, but none is set.
    case noPasscode
    /// The recovery key is not well formed; the text says why.
    case unusableRecoveryKey(String)
    /// The recovery key belongs to another keychain.
    case wrongRecoveryKey
    /// After ten wrong passcodes, the keys that the passcode protected are destroyed.
    case wiped
    /// An item with this constraint cannot be stored, because no passcode is set.
    case constraintNeedsPasscode(AccessConstraint)
    /// An item with this constraint cannot be stored, because the keychain has no key of this way to
    /// be present. The next unlock creates the keys of a keychain of an older version; a security
    /// key must be enrolled.
    case presenceKeyMissing(AccessConstraint)
    /// An item with constraints cannot be stored, because the keybag has an earlier version. The
    /// next unlock gives it this one.
    case olderKeybag
    /// An item with `biometryCurrentSet` cannot be stored without the enrolled set.
    case enrolledSetNeeded
    /// An item with `applicationPassword` cannot be stored without the password.
    case applicationPasswordNeeded
    /// An item cannot be stored before this key is derived. The store derives it, and tries again.
    case derivationNeeded(PendingDerivation)
    /// The keychain was locked since the evaluation of a constraint began.
    case lockedDuringEvaluation
    /// This process does not keep the key of biometry: it is embedded, or was not unlocked.
    case biometryUnavailable
    /// The keychain has no pair of this security key, or the secret is not the one of its
    /// enrolment.
    case wrongSecurityKey
    /// This credential of a security key is enrolled already.
    case securityKeyExists
    /// The keychain has the maximum number of security keys.
    case tooManySecurityKeys(max: Int)
    /// A security key cannot be enrolled with these values; the text says why.
    case unusableSecurityKey(String)
    /// libcrypto failed; the text is its message.
    case cryptographyFailed(String)
    /// The required memory could not be allocated.
    case noMemory(String)
}

extension KeybagError {
    /// The key is in hardware that this process cannot use.
    static var noHardware: KeybagError {
        .hardware(
            KeychainError(
                .notAvailable, "the device key is in a TPM, but this program cannot use it",
                hint: "latchkeyd opens it: systemctl --user enable --now latchkeyd.socket"))
    }

    /// The key is in a credential of systemd that this process has not received.
    static func noCredential(path: String) -> KeybagError {
        .hardware(
            KeychainError(
                .notAvailable, "the device key is in a credential of systemd, but this program has not received it",
                hint: "add to the service's unit: LoadCredentialEncrypted=latchkey.device-key:\(path)"))
    }
}
