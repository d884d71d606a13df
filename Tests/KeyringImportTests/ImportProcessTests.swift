// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import SystemBus
import Testing

/// The program itself: `latchkey import --from`.
@Suite("latchkey import --from", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct ImportProcessTests {
    private static func items(_ count: Int) -> [FakeSecretService.Item] {
        (0..<count).map { FakeSecretService.Item(attributes: ["n": "\($0)"], secret: "secret \($0)") }
    }

    private static func run(_ words: [String], home: String) throws -> ImportRun {
        let outcome = try Executable.run("latchkey", ["import", "--from", "gnome-keyring"] + words, home: home)
        return ImportRun(status: outcome.status, output: outcome.output, error: outcome.error)
    }

    @Test("An import that was killed is continued: its stored items are equal, and the rest is new")
    func killed() throws {
        let (bus, directory) = (try PrivateBus(), try TemporaryDirectory())
        let (calls, unanswered) = (EventCount(), Collected<BusMethodCall>())
        let service = try FakeSecretService(on: bus, [.init(items: Self.items(100))]) { call, _ in
            guard call.member == "GetSecrets" else { return false }
            calls.increase()
            guard calls.value == 3 else { return false }
            // The client waits for this answer until it is killed.
            unanswered.append(call)
            return true
        }
        defer { service.end() }
        let process = try SpawnedProcess(
            [Executable.path("latchkey"), "import", "--from", "gnome-keyring", "--bus", bus.address],
            environment: [
                "LATCHKEY_HOME": directory.path, "LATCHKEY_NO_DAEMON": "1", "PATH": "/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no",
            ], output: "\(directory.path)/log")
        #expect(eventually { !unanswered.all.isEmpty || !process.isRunning })
        #expect(process.stop(signal: SIGKILL) == 128 + SIGKILL)
        let next = try Self.run(["--bus", bus.address, "--json"], home: directory.path)
        #expect(next.status == 0, "\(next)")
        #expect(try next.report().counts == [36, 64, 0, 0])
        let last = try Self.run(["--bus", bus.address, "--json", "--dry-run"], home: directory.path)
        #expect(try last.report().counts == [0, 100, 0, 0])
    }

    @Test("Latchkey's own service is refused, whether it or another program has started it")
    func own() throws {
        let directory = try TemporaryDirectory()
        let script = "'\(Executable.path("latchkey"))' import --from gnome-keyring; echo $?"
        let outcome = try Executable.run(
            "latchkey", ["session", "--", "/bin/sh", "-c", script], home: directory.path,
            environment: ["XDG_RUNTIME_DIR": directory.path])
        #expect(outcome.output == "206\n", "\(outcome)")
        #expect(outcome.error.contains("is latchkey-secret-service itself"), "\(outcome)")
    }

    @Test("import with a file still imports keys, and --from as a value is no option")
    func files() throws {
        let directory = try TemporaryDirectory()
        let missing = "\(directory.path)/missing.pem"
        let values = [
            [missing, "-l", "--from"], ["-l", "--from", missing], ["-a", "name", "--from", missing],
            ["-xP", "--from", missing], ["--", "--from=missing.pem"],
        ]
        for words in [[missing]] + values {
            let outcome = try Executable.run("latchkey", ["import"] + words, home: directory.path)
            #expect(outcome.error.contains("missing.pem") && !outcome.error.contains("keyring"), "\(outcome)")
        }
        let help = try Executable.run("latchkey", ["import", "--from", "kwallet", "--help"], home: directory.path)
        #expect(help.status == 0 && help.output.contains("--unlock-timeout"), "\(help)")
        let wrong = try Executable.run("latchkey", ["import", "--from=elsewhere"], home: directory.path)
        #expect(
            wrong.status == 2 && wrong.error.contains("hint: latchkey import --from gnome-keyring --help"), "\(wrong)")
        let verbose = try Executable.run("latchkey", ["-v", "import", "--from=elsewhere"], home: directory.path)
        #expect(verbose.status == 2 && verbose.error.hasSuffix(" is not valid [LK1001]\n"), "\(verbose)")
    }

    @Test("The passcode of a file opens a locked keychain for the import")
    func passcode() throws {
        let (bus, directory) = (try PrivateBus(), try TemporaryDirectory())
        let (home, file) = (directory.path, "\(directory.path)/passcode")
        try Data("correct horse battery\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        let service = try FakeSecretService(on: bus, [.init(items: Self.items(2))])
        defer { service.end() }
        #expect(try Self.run(["--bus", bus.address], home: home).status == 0)
        let set = try Executable.run("latchkey", ["passcode", "set", "--passcode-file", file], home: home)
        #expect(set.status == 0, "\(set)")
        let refused = try Self.run(["--bus", bus.address, "--json"], home: home)
        #expect(refused.status == 36, "\(refused)")
        let opened = try Self.run(["--bus", bus.address, "--json", "--passcode-file", file], home: home)
        #expect(opened.status == 0, "\(opened)")
        #expect(try opened.report().counts == [0, 2, 0, 0])
    }
}
