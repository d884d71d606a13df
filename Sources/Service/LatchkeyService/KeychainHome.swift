// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
public import KeychainModel
internal import LinuxSystem

/// Where a user's keychain lies.
public struct KeychainHome: Sendable, Hashable {
    /// The directory of the database.
    public let dataDirectory: String
    /// The directory of the device key. Another one, so that a backup of the data alone opens nothing.
    public let stateDirectory: String

    /// `root/data` and `root/state`.
    public init(root: String) {
        dataDirectory = "\(root)/data"
        stateDirectory = "\(root)/state"
    }

    private init(dataDirectory: String, stateDirectory: String) {
        self.dataDirectory = dataDirectory
        self.stateDirectory = stateDirectory
    }

    /// What the environment says: `LATCHKEY_HOME`, else the XDG directories, else their defaults under `HOME`.
    ///
    /// - Throws: errSecNoDefaultKeychain where none of them is set.
    public static func resolve(_ environment: (String) -> String?) throws(KeychainError) -> KeychainHome {
        if let root = environment("LATCHKEY_HOME"), !root.isEmpty {
            return KeychainHome(root: absolute(root))
        }
        return KeychainHome(
            dataDirectory: try directory("XDG_DATA_HOME", underHome: ".local/share", environment) + "/latchkey",
            stateDirectory: try directory("XDG_STATE_HOME", underHome: ".local/state", environment) + "/latchkey")
    }

    public var databasePath: String { "\(dataDirectory)/\(Self.databaseName)" }
    public var deviceKeyPath: String { "\(stateDirectory)/\(DeviceKey.fileName)" }

    static let databaseName = "keychain.db"

    /// Refuses to make a keychain where another user could replace it. One that is there already can be used; `doctor` names the directory.
    func requireSafeIfNew() throws(SystemError) {
        guard try FileStatus.ofLink(databasePath) == nil, let parent = try replaceableParent() else { return }
        throw SystemError("make a keychain in \(dataDirectory): \(parent.problem)", code: EACCES, hint: parent.hint)
    }

    /// A directory or link above the keychain's directories by which another user can replace them.
    func replaceableParent() throws(SystemError) -> ReplaceableParent? {
        for directory in [dataDirectory, stateDirectory] {
            if let found = try ReplaceableParent.first(above: directory, user: geteuid()) { return found }
        }
        return nil
    }

    private static func directory(
        _ variable: String, underHome path: String, _ environment: (String) -> String?
    ) throws(KeychainError) -> String {
        // The XDG base directory specification: a relative path is to be ignored.
        if let directory = environment(variable), directory.hasPrefix("/") { return directory }
        guard let home = environment("HOME"), home.hasPrefix("/") else {
            throw KeychainError(
                .noDefaultKeychain,
                "there is no place for a keychain: neither LATCHKEY_HOME nor \(variable) nor HOME names a directory",
                hint: "export LATCHKEY_HOME=/path/of/a/private/directory")
        }
        return "\(home)/\(path)"
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}
