// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import SystemBus
import Testing

/// `latchkey setup --apply secret-service` beside gnome-keyring itself.
@Suite(
    "Taking the place of gnome-keyring", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"),
    .enabled(if: GnomeKeyringDaemon.isInstalled, "gnome-keyring-daemon is not installed"))
struct TakeoverTests {
    private let directory: TemporaryDirectory
    private let bus: PrivateBus
    private let environment: [String: String]

    init() throws {
        directory = try TemporaryDirectory()
        let path = directory.path
        for name in ["data/dbus-1/services", "system", "run"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
        #expect(chmod("\(path)/run", 0o700) == 0)
        let command = "--start --foreground --components=secrets --control-directory=\(path)/run"
        try Data(
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(GnomeKeyringDaemon.program) \(command)\n".utf8
        ).write(to: URL(filePath: "\(path)/system/org.freedesktop.secrets.service"))
        let variables = [
            "HOME": path, "LATCHKEY_NO_DAEMON": "1", "XDG_DATA_HOME": "\(path)/data", "XDG_STATE_HOME": "\(path)/state",
            "XDG_CONFIG_HOME": "\(path)/config", "XDG_RUNTIME_DIR": "\(path)/run", "SWIFT_BACKTRACE": "enable=no",
        ]
        bus = try PrivateBus(services: ["\(path)/data/dbus-1/services", "\(path)/system"], environment: variables)
        environment = variables.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 }
    }

    /// Runs latchkey with the keychain of the home; the services of the bus use it, too.
    private func latchkey(_ words: String...) throws -> Executable.Outcome {
        let (output, error) = ("\(directory.path)/.output", "\(directory.path)/.error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        let process = try SpawnedProcess(
            ["/bin/sh", "-c", "exec \"$@\" 2> '\(error)'", "sh", Executable.path("latchkey")] + words,
            environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }, output: output)
        let status = process.awaitExit()
        return Executable.Outcome(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }

    /// The Secret Service of the bus, as `latchkey status` shows it.
    private func desktop() throws -> String {
        let shown = try latchkey("status")
        #expect(shown.status == 0, "\(shown)")
        return shown.output.split(separator: "\n").first { $0.hasPrefix("desktop:") }.map(String.init) ?? ""
    }

    @Test("The items move in, the name changes hands at once, and --undo gives it back")
    func takeover() throws {
        #expect(try desktop().contains("no program is the Secret Service"))
        let daemon = try GnomeKeyringDaemon(on: bus)
        try daemon.store(Array("s3cret".utf8), label: "Mail", ["service": "example.com", "username": "alice"])
        let other = "\(GnomeKeyringDaemon.program) (process \(daemon.processIdentifier)) is the Secret Service"
        #expect(try desktop().contains(other))
        #expect(try latchkey("doctor").output.contains("ok       secret service: \(other)"))

        let dry = try latchkey("setup", "--apply", "--dry-run", "secret-service")
        #expect(dry.status == 0 && dry.output.contains("latchkey import --from gnome-keyring, and compare"), "\(dry)")
        #expect(try desktop().contains(other))

        let applied = try latchkey("setup", "--apply", "secret-service")
        #expect(applied.status == 0 && applied.output.hasSuffix("  done\n"), "\(applied)")
        #expect(eventually { !daemon.isRunning })
        #expect(try desktop().contains("gives this keychain to desktop programs"))
        let found = try latchkey("find-generic-password", "-s", "example.com", "-a", "alice", "-w")
        #expect(found.output == "s3cret\n", "\(found)")
        #expect(try latchkey("setup", "secret-service").output.hasPrefix("done "))

        let undone = try latchkey("setup", "--undo", "secret-service")
        #expect(undone.status == 0 && undone.output.contains("only in this keychain"), "\(undone)")
        #expect(try desktop().contains("\(GnomeKeyringDaemon.program) (process "))
        #expect(try latchkey("setup", "--undo").output == "there is nothing to undo\n")
        // The items stay.
        #expect(try latchkey("get", "--reveal", "example.com/alice").output == "s3cret")
    }

    @Test("A gnome-keyring that the bus starts for the import does not keep the name")
    func startedByImport() throws {
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/data/keyrings", withIntermediateDirectories: true)
        let applied = try latchkey("setup", "--apply", "secret-service")
        #expect(applied.status == 0, "\(applied)")
        #expect(try desktop().contains("gives this keychain to desktop programs"))
    }

    @Test("An item that is different, or one that gnome-keyring has in memory only, changes nothing")
    func different() throws {
        let daemon = try GnomeKeyringDaemon(on: bus)
        try daemon.store(Array("new".utf8), label: "Mail", ["service": "example.com", "username": "alice"])
        #expect(try latchkey("import", "--from", "gnome-keyring").status == 0)
        #expect(try latchkey("import", "--from", "gnome-keyring", "--verify").status == 0)
        let changed = try latchkey("add-generic-password", "-U", "-s", "example.com", "-a", "alice", "-w", "changed")
        #expect(changed.status == 0, "\(changed)")
        #expect(try latchkey("import", "--from", "gnome-keyring", "--verify").status == 1)
        let refused = try latchkey("setup", "--apply", "secret-service")
        #expect(
            refused.status != 0 && refused.error.contains("does not have every item of gnome-keyring"), "\(refused)")
        #expect(daemon.isRunning)
        #expect(try latchkey("rm", "--force", "example.com/alice").status == 0)
        try daemon.store(
            Array("short".utf8), label: "Session", ["a": "b"], in: "/org/freedesktop/secrets/collection/session")
        let temporary = try latchkey("setup", "--apply", "secret-service")
        #expect(temporary.status != 0 && temporary.error.contains("does not have every item"), "\(temporary)")
        #expect(daemon.isRunning)
        #expect(try latchkey("setup", "--undo").output == "there is nothing to undo\n")
        #expect(
            !FileManager.default.fileExists(
                atPath: "\(directory.path)/data/dbus-1/services/org.freedesktop.secrets.service"))
    }
}
