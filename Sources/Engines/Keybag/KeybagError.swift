// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// Why keys are not to be had.
public enum KeybagError: Error, Sendable {
    /// The device key's file could not be read or made.
    case system(SystemError)
    /// There is a keychain, but not its device key.
    case deviceKeyMissing(path: String?)
    /// The device key is not the one this keybag was made with.
    case foreignDeviceKey
    /// The keybag is not what was written: the words say what was expected.
    case damaged(String)
    /// The keybag was written by a newer version.
    case newerVersion(found: UInt16, known: UInt16)
    /// The class has no key here, because it needs a passcode and none is set.
    case passcodeRequired(ProtectionClass)
    /// A wrapped key did not unwrap: it was changed, or belongs to another class or generation.
    case wrongKey
    /// The class is closed: the keychain is locked, or was not unlocked yet.
    case closed(ProtectionClass)
    /// The words say why this cannot be a passcode, or not a new one.
    case unusablePasscode(String)
    case wrongPasscode
    /// Too many wrong passcodes: none is judged before these seconds have passed.
    case passcodeDelay(seconds: Int)
    /// Another process has changed the keybag in the course of this operation.
    case changedMeanwhile
    /// The file that counts wrong passcodes is not what was written.
    case attemptsDamaged
    /// Attempts cannot be counted, because the directory lies on a read-only file system; so no passcode is judged.
    case attemptsReadOnly(path: String)
    /// A passcode is set, and the operation needs there to be none.
    case passcodeExists
    /// A passcode is set, and the operation needs it in the same request.
    case passcodeNeeded
    /// There is no passcode, and the operation needs one.
    case noPasscode
    /// The words say why this cannot be a recovery key.
    case unusableRecoveryKey(String)
    /// It is a recovery key, but not of this keychain.
    case wrongRecoveryKey
    /// Ten wrong passcodes: what the passcode protected is destroyed.
    case wiped
    /// The memory that is needed was not to be had.
    case noMemory(String)
}
