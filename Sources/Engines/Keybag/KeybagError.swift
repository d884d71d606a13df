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
    /// A later version has set a passcode, which this one does not know how to ask for.
    case passcodeSet
    /// The class has no key here, because it needs a passcode and none is set.
    case passcodeRequired(ProtectionClass)
    /// A wrapped key did not unwrap: it was changed, or belongs to another class or generation.
    case wrongKey
}
