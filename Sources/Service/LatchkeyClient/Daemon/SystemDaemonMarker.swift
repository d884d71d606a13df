// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
internal import LinuxSystem

/// The marker file in the user's state directory for a system daemon: it records that the system's daemon keeps this
/// user's keychain.
///
/// A client creates it after the first response of a system daemon. From then on, a client that
/// finds no system daemon fails instead of creating or opening a separate keychain in the user's
/// home. In that keychain, existing items would seem lost, and new items would be lost when the
/// daemon answers again.
public enum SystemDaemonMarker {
    /// Whether a system daemon has served this user.
    public static func isSet(in home: KeychainHome) -> Bool {
        faccessat(AT_FDCWD, path(home), F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Records that a system daemon has answered. If the directory cannot be created, no keychain
    /// can be created there either.
    static func set(in home: KeychainHome) {
        guard !isSet(in: home), let directory = try? PrivateDirectory(creating: home.stateDirectory) else { return }
        // Another process may have created it first.
        _ = try? Array(text.utf8).withUnsafeBytes { bytes in try PrivateFile.create(name, in: directory, content: bytes)
        }
    }

    /// Lets programs of this user open the keychain in the home themselves again.
    ///
    /// - Returns: false if there was no marker file.
    public static func remove(from home: KeychainHome) throws(KeychainError) -> Bool {
        guard isSet(in: home) else { return false }
        guard unlink(path(home)) == 0 else { throw KeychainError(.last("remove", path: path(home))) }
        return true
    }

    static func path(_ home: KeychainHome) -> String { "\(home.stateDirectory)/\(name)" }

    private static let name = "system-daemon"
    private static let text =
        "The system's latchkeyd keeps the keychain of this user. `latchkey daemon --system --release` removes this file.\n"
}
