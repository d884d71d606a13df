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

    /// The socket of a daemon that a command starts.
    public static func ofStartedDaemon(_ home: KeychainHome, _ environment: (String) -> String?) -> String {
        // The daemon of the login session may serve another home.
        guard (environment("LATCHKEY_HOME") ?? "").isEmpty else { return inHome(home) }
        if let directory = runtimeDirectory(environment) { return inRuntimeDirectory(directory) }
        return access(standardDirectory, W_OK) == 0 ? inRuntimeDirectory(standardDirectory) : inHome(home)
    }

    private static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        environment("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func inRuntimeDirectory(_ directory: String) -> String { "\(directory)/latchkey/socket" }

    private static func inHome(_ home: KeychainHome) -> String { "\(home.stateDirectory)/socket" }

    private static var standardDirectory: String { "/run/user/\(getuid())" }
}
