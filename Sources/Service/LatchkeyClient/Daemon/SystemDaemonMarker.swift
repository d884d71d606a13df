// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
internal import LinuxSystem

/// The note that this user's keychain is the one that the system's daemon keeps: a file in the user's state directory.
///
/// The first answer of a system daemon writes it. From then on a client that finds no system daemon fails instead of opening, and making, another
/// keychain in the user's home: what was stored would seem lost, and what is stored next would be lost when the daemon is back.
public enum SystemDaemonMarker {
    /// Whether a system daemon has served this user.
    public static func isSet(in home: KeychainHome) -> Bool {
        faccessat(AT_FDCWD, path(home), F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Notes that a system daemon has answered. Where there is no directory to write to, no keychain can be made there either.
    static func set(in home: KeychainHome) {
        guard !isSet(in: home), let directory = try? PrivateDirectory(creating: home.stateDirectory) else { return }
        // Another process may be first.
        _ = try? Array(text.utf8).withUnsafeBytes { bytes in try PrivateFile.create(name, in: directory, content: bytes)
        }
    }

    /// Lets programs of this user open a keychain of their own again.
    ///
    /// - Returns: false where there was no mark.
    public static func remove(from home: KeychainHome) throws(KeychainError) -> Bool {
        guard isSet(in: home) else { return false }
        guard unlink(path(home)) == 0 else { throw KeychainError(.last("remove", path: path(home))) }
        return true
    }

    static func path(_ home: KeychainHome) -> String { "\(home.stateDirectory)/\(name)" }

    private static let name = "system-daemon"
    private static let text =
        "The system's latchkeyd keeps the keychain of this user. `latchkeyd --system --release` forgets that.\n"
}
