// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyService
internal import LinuxSystem

/// The marker file in the user's state directory for a refused login. It records that the login did not unlock the
/// keychain, because the passcode is not the login password, and that the user was told so. A login that unlocks
/// removes it.
public enum LoginRefusalMarker {
    /// Records it.
    ///
    /// - Returns: false if it is recorded already; true also if it cannot be.
    public static func set() -> Bool {
        guard let directory else { return true }
        let isNew = try? Array(text.utf8).withUnsafeBytes { bytes in
            try PrivateFile.create(name, in: directory, content: bytes)
        }
        return isNew ?? true
    }

    public static func remove() {
        guard let directory else { return }
        // Without it, the next refusal is reported again.
        try? PrivateFile.remove(name, in: directory)
    }

    /// nil for a keychain of a test.
    private static var directory: PrivateDirectory? {
        guard CallerContext.current == nil, let home = try? KeychainClient.home() else { return nil }
        return try? PrivateDirectory(creating: home.stateDirectory)
    }

    private static let name = "login-refused"
    private static let text =
        "A login did not unlock the keychain: its passcode is not the login password. The user was told once.\n"
}
