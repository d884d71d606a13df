// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting

/// The surroundings of one run of a recipe: an empty home, and an environment as in a container, without a session or
/// any of XDG's directories.
final class RecipeWorld {
    private let directory: TemporaryDirectory
    private let mode: Recipe.Mode
    private let environment: [String: String]
    /// A copy of /etc that the commands see in place of the machine's; nil if they do not change it.
    private let settings: String?

    private var work: String { "\(directory.path)/work" }

    init(_ recipe: Recipe, _ mode: Recipe.Mode) throws {
        let directory = try TemporaryDirectory()
        let (path, home, work) = (directory.path, "\(directory.path)/home", "\(directory.path)/work")
        (self.directory, self.mode) = (directory, mode)
        for name in ["home", "work", "bin"] {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(name)", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        try RecipeFixtures.shared.get().write(to: work)
        var environment = [
            "HOME": home, "PATH": "\(path)/bin:/usr/bin:/bin", "USER": "runner", "LC_ALL": "C.UTF-8",
            "SWIFT_BACKTRACE": "enable=no", "SSL_CERT_FILE": "\(work)/system-roots.pem",
            "SSL_CERT_DIR": "\(path)/none",
            // Never the daemon and the bus of this machine.
            "LATCHKEY_SYSTEM_SOCKET": "\(path)/none", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)/none",
        ]
        if mode == .embedded { environment["LATCHKEY_NO_DAEMON"] = "1" }
        for variable in recipe.variables where variable.mode == nil || variable.mode == mode {
            environment[variable.name] = try Self.value(variable.value, home: home, work: work)
        }
        self.environment = environment
        settings = recipe.changesMachine ? "\(path)/etc" : nil
        for (name, target) in [("security", "latchkey"), ("latchkey", "latchkey"), ("latchkeyd", "latchkeyd")] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/bin/\(name)", withDestinationPath: Executable.path(target))
        }
        guard let settings else { return }
        _ = FileManager.default.createFile(
            atPath: "\(path)/bin/sudo", contents: Data("#!/bin/sh\nexec \"$@\"\n".utf8),
            attributes: [.posixPermissions: 0o700])
        _ = try Executable.run("/bin/cp", ["-a", "/etc", settings], home: home)
    }

    deinit { _ = try? stopDaemon() }

    /// Replaces the placeholders of a variable's value.
    private static func value(_ text: String, home: String, work: String) throws -> String {
        var value = text.replacing("%T", with: work).replacing("%H", with: home)
        while let file = value.firstMatch(of: /%\{([^}]+)\}/) {
            let content = try Data(contentsOf: URL(filePath: "\(work)/\(file.1)"))
            value.replaceSubrange(file.range, with: content.base64EncodedString())
        }
        return value
    }

    // MARK: Commands

    /// Runs a command line in a shell of its own, until it ends.
    func run(_ command: String) throws -> Executable.Outcome {
        let (output, error) = ("\(directory.path)/output", "\(directory.path)/error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        let script = #"cd "$0" && exec 2> "$1" && exec /bin/sh -c "$2""#
        let shell = try SpawnedProcess(
            launcher + ["/bin/sh", "-c", script, work, error, command], environment: environment, output: output)
        let status = shell.awaitExit()
        return Executable.Outcome(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    /// The command that replaces /etc for another command.
    private var launcher: [String] {
        guard let settings else { return [] }
        let script = #"mount --bind "$0" /etc && exec "$@""#
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, settings]
    }

    // MARK: The daemon

    struct NoDaemon: Error { let outcome: Executable.Outcome }

    /// Makes a command start the daemon, for a recipe without a line that starts it. Nothing else stays.
    func startDaemon() throws {
        let outcome = try run("security create-keychain -p first first-step && security delete-keychain first-step")
        guard outcome.status == 0 else { throw NoDaemon(outcome: outcome) }
    }

    /// Returns the process of the daemon that keeps the keychains of this home; nil if there is none.
    /// This is the only place that knows how it is found.
    func daemon() throws -> pid_t? {
        struct Status: Decodable {
            struct Daemon: Decodable { let pid: pid_t }
            let daemon: Daemon?
        }
        let outcome = try run("latchkey status --json")
        return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8)).daemon?.pid
    }

    /// Ends the daemon, and waits until it has ended.
    ///
    /// - Returns: whether there was one, and it has ended.
    @discardableResult
    func stopDaemon() throws -> Bool {
        guard mode == .daemon, let process = try daemon(), process > 1 else { return false }
        kill(process, SIGTERM)
        return eventually { !ProcessTable.isRunning(process) }
    }
}
