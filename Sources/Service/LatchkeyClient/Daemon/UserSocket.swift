// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
public import LatchkeyService

/// Where a user's own daemon listens.
public enum UserSocket {
    /// The sockets at which clients look, in this order: in the runtime directory of the login session,
    /// and in the state directory of the home, where there is no such session.
    static func candidates(_ home: KeychainHome, _ environment: (String) -> String?) -> [String] {
        [inRuntimeDirectory(runtimeDirectory(environment) ?? standardDirectory), inHome(home)]
    }

    /// The socket of a daemon that a command starts: in the home, because homes of one user may share a
    /// runtime directory.
    public static func ofStartedDaemon(_ home: KeychainHome, _ environment: (String) -> String?) -> String {
        let path = inHome(home)
        guard path.utf8.count > maxLength else { return path }
        return inRuntimeDirectory(runtimeDirectory(environment) ?? standardDirectory)
    }

    /// The longest path of a socket (unix(7)), without the final zero byte.
    private static let maxLength = 107

    private static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        environment("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func inRuntimeDirectory(_ directory: String) -> String { "\(directory)/latchkey/socket" }

    private static func inHome(_ home: KeychainHome) -> String { "\(home.stateDirectory)/socket" }

    private static var standardDirectory: String { "/run/user/\(getuid())" }
}
