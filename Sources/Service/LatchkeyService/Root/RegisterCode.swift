// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import SecretMemory

/// The code that opens a sealed device key when its PCRs have other values: 16 random bytes in the form of a recovery
/// key.
public enum RegisterCode {
    /// The text of a new code.
    public static func random() -> SharedSecret { RecoveryKey.random().text }
}
