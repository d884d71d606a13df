// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// A latchkeyd in system mode that runs as a separate user, and programs that run as other users.
/// Needs root and setpriv(1).
final class SystemDaemon {
    static let isPossible = geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0
    static let reason: Comment = "needs root and setpriv to be other users"

    let process: DaemonProcess
    let state: String
    let socket: String
    /// The file of subordinate user ids that the daemon reads, instead of the machine's.
    let subuid: String
    let directory: TemporaryDirectory
    private let executables: SharedExecutables

    init() throws {
        executables = try SharedExecutables(["latchkey", "latchkeyd", "ProofWorker"])
        directory = try TemporaryDirectory(reachableByAll: ())
        let runtime = "\(directory.path)/rundir"
        state = "\(directory.path)/state"
        socket = "\(runtime)/socket"
        subuid = "\(directory.path)/subuid"
        for (path, mode) in [(state, 0o700), (runtime, 0o755)] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
            chown(path, Self.user, Self.user)
        }
        process = try DaemonProcess(
            ["--system", "--socket", socket, "--state-directory", state, "--subuid", subuid],
            launcher: Self.setpriv(Self.user),
            executable: executables.path("latchkeyd"), in: directory)
    }

    /// The user id of the daemon.
    private static let user: uid_t = 61_950

    private static func setpriv(_ user: uid_t) -> [String] {
        ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
    }

    private var environment: [String: String] {
        [
            "LATCHKEY_SYSTEM_SOCKET": socket, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// Returns the path of an executable of the package that every user can run.
    func path(_ name: String) -> String { executables.path(name) }

    /// Runs an executable of the package as a user; returns its output.
    func run(as user: uid_t, _ name: String, _ arguments: [String]) throws -> String {
        try process.run(Self.setpriv(user) + [executables.path(name)] + arguments, environment: environment)
    }

    /// Runs an executable of the package as a user in a separate PID namespace, as sandboxes do;
    /// returns its output.
    func run(inNamespaceAs user: uid_t, _ name: String, _ arguments: [String]) throws -> String {
        let namespace = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child"]
        return try process.run(
            namespace + Self.setpriv(user) + [executables.path(name)] + arguments, environment: environment)
    }

    /// Runs a shell command as a user; returns its output.
    func shell(as user: uid_t, _ line: String) throws -> String {
        try process.run(Self.setpriv(user) + ["/bin/sh", "-c", line], environment: environment)
    }

    /// Starts an executable of the package as a user, concurrently with others; its output goes to
    /// this file in ``directory``.
    func start(as user: uid_t, _ name: String, _ arguments: [String], output: String) throws -> SpawnedProcess {
        try SpawnedProcess(
            Self.setpriv(user) + [executables.path(name)] + arguments, environment: environment,
            output: "\(directory.path)/\(output)")
    }
}
