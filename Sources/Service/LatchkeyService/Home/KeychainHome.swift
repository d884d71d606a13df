// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Keybag
public import KeychainModel
internal import LinuxSystem

/// The directories of one user's keychain.
public struct KeychainHome: Sendable, Hashable {
    /// The directory of the database.
    public let dataDirectory: String
    /// The directory of the device key. It is separate, so that a backup of the data directory
    /// alone opens nothing.
    public let stateDirectory: String
    /// The name of the keychain.
    public let name: KeychainName

    /// Defines a home with the directories `root/data` and `root/state`; does not create them.
    public init(root: String) {
        dataDirectory = "\(root)/data"
        stateDirectory = "\(root)/state"
        name = .login
    }

    private init(dataDirectory: String, stateDirectory: String, name: KeychainName = .login) {
        self.dataDirectory = dataDirectory
        self.stateDirectory = stateDirectory
        self.name = name
    }

    /// Returns a home of this user in a directory of this one.
    func subhome(_ directory: String, _ fileName: String, _ name: KeychainName) -> KeychainHome {
        KeychainHome(
            dataDirectory: "\(dataDirectory)/\(directory)/\(fileName)",
            stateDirectory: "\(stateDirectory)/\(directory)/\(fileName)", name: name)
    }

    /// Returns the home that the environment defines: `LATCHKEY_HOME`, else the XDG directories,
    /// else their defaults under `HOME`.
    ///
    /// - Throws: errSecNoDefaultKeychain if none of them is set.
    public static func resolve(_ environment: (String) -> String?) throws(KeychainError) -> KeychainHome {
        for variable in Self.pathVariables {
            guard environment(variable).map(SecureEnvironment.isExact) ?? true else {
                // The database and the daemon have their paths as text; another directory would be used.
                throw KeychainError(
                    .noDefaultKeychain, "\(variable) is not UTF-8, and a keychain has its path as text",
                    hint: "export \(variable)=/path/in/UTF-8, or unset it")
            }
        }
        if let root = environment("LATCHKEY_HOME"), !root.isEmpty {
            do throws(SystemError) {
                return KeychainHome(root: try AbsolutePath.of(root))
            } catch {
                throw KeychainError(error)
            }
        }
        return KeychainHome(
            dataDirectory: try directory("XDG_DATA_HOME", underHome: ".local/share", environment) + "/latchkey",
            stateDirectory: try directory("XDG_STATE_HOME", underHome: ".local/state", environment) + "/latchkey")
    }

    public var databasePath: String { "\(dataDirectory)/\(Self.databaseName)" }
    /// The path that stands for the keychain where macOS has one file: the database; of a keychain that the user has
    /// created, its data directory, or the path that is its name.
    public var path: String {
        if name.isPath { return name.text }
        return name == .login ? databasePath : dataDirectory
    }

    public var deviceKeyPath: String { "\(stateDirectory)/\(DeviceKey.fileName)" }

    /// The directory of the files that items stand for.
    var filesDirectory: String { "\(dataDirectory)/files" }

    /// The file of the device key.
    func deviceKeyPath(_ root: DeviceKey.Root) -> String {
        "\(stateDirectory)/\(DeviceKeyStorage.fileName(root))"
    }

    static let databaseName = "keychain.db"

    /// The variables that contain paths of the user's directories.
    private static let pathVariables = [
        "LATCHKEY_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "HOME",
    ]

    /// Refuses to create a keychain that another user could replace. An existing keychain can be
    /// used; `doctor` reports the directory.
    func requireSafeIfNew() throws(SystemError) {
        guard try FileStatus.ofLink(databasePath) == nil, let parent = try replaceableParent() else { return }
        throw SystemError("create a keychain in \(dataDirectory): \(parent.problem)", code: EACCES, hint: parent.hint)
    }

    /// Returns a directory or link above the keychain's directories that lets another user replace
    /// them; nil if there is none.
    func replaceableParent() throws(SystemError) -> ReplaceableParent? {
        for directory in [dataDirectory, stateDirectory] {
            if let found = try ReplaceableParent.first(above: directory, user: geteuid()) { return found }
        }
        return nil
    }

    private static func directory(
        _ variable: String, underHome path: String, _ environment: (String) -> String?
    ) throws(KeychainError) -> String {
        // XDG Base Directory Specification: relative paths must be ignored.
        if let directory = environment(variable), directory.hasPrefix("/") { return directory }
        guard let home = environment("HOME"), home.hasPrefix("/") else {
            throw KeychainError(
                .noDefaultKeychain,
                "no directory for the keychain: neither LATCHKEY_HOME nor \(variable) nor HOME names a directory",
                hint: "export LATCHKEY_HOME=/path/of/a/private/directory")
        }
        return "\(home)/\(path)"
    }
}
