// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The programs themselves: `latchkey session` starts a bus and `latchkey-secret-service`.
@Suite(
    "latchkey session", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"),
    .enabled(if: access("/usr/bin/secret-tool", X_OK) == 0, "secret-tool is not installed"))
struct SessionProcessTests {
    private static func run(
        _ script: String, home: String, _ options: [String] = [], startsDaemon: Bool = false
    ) throws -> Executable.Outcome {
        let bus = "DBUS_SESSION_BUS_ADDRESS"
        return try Executable.run(
            "latchkey", ["session"] + options + ["--", "/bin/sh", "-c", script], home: home,
            environment: [
                "XDG_RUNTIME_DIR": home, bus: "unix:path=/nonexistent", "LATCHKEY_NO_DAEMON": startsDaemon ? "" : "1",
            ])
    }

    /// Sets a passcode in a new home; returns its file.
    private static func setPasscode(_ home: String) throws -> String {
        let file = "\(home)/passcode"
        try Data("correct horse battery\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        let set = try Executable.run("latchkey", ["passcode", "set", "--passcode-file", file], home: home)
        try #require(set.status == 0, "\(set)")
        return file
    }

    /// The process of the daemon that a command has started in a home; nil for none.
    private static func daemon(_ home: String) throws -> pid_t? {
        struct Status: Decodable {
            struct Daemon: Decodable { let pid: pid_t }
            let daemon: Daemon?
        }
        let status = try Executable.run(
            "latchkey", ["status", "--json"], home: home, environment: ["XDG_RUNTIME_DIR": home])
        return try JSONDecoder().decode(Status.self, from: Data(status.output.utf8)).daemon?.pid
    }

    @Test("security finds the item of a program of the session, and the directory of the bus is removed")
    func storing() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let outcome = try Self.run(
            "printf s3cret | secret-tool store --label=a service example.com account alice && secret-tool lookup service example.com",
            home: home)
        #expect(outcome.status == 0 && outcome.output == "s3cret", "\(outcome)")
        let found = try Executable.run(
            "latchkey", ["find-generic-password", "-s", "example.com", "-w"], home: home)
        #expect(found.output == "s3cret\n", "\(found)")
        let left = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(!left.contains { $0.hasPrefix("latchkey-session") }, "\(left)")
    }

    @Test("secret-tool finds, changes and deletes the items of security")
    func shared() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let words = ["-s", "example.com", "-a", "alice"]
        let added = try Executable.run("latchkey", ["add-generic-password"] + words + ["-w", "one"], home: home)
        #expect(added.status == 0, "\(added)")
        let changed = try Self.run(
            "secret-tool lookup service example.com username alice && printf two | secret-tool store --label=a service example.com username alice",
            home: home)
        #expect(changed.status == 0 && changed.output == "one", "\(changed)")
        let found = try Executable.run("latchkey", ["find-generic-password"] + words + ["-w"], home: home)
        #expect(found.output == "two\n", "\(found)")
        #expect(try Self.run("secret-tool clear username alice", home: home).status == 0)
        #expect(try Executable.run("latchkey", ["find-generic-password"] + words, home: home).status == 44)
    }

    @Test("Where nothing can ask, secret-tool reads its own items, and the rest once it is allowed")
    func consent() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let words = ["-s", "example.com", "-a", "alice", "-w", "foreign"]
        #expect(try Executable.run("latchkey", ["add-generic-password"] + words, home: home).status == 0)
        #expect(try Executable.run("latchkey", ["settings", "consent", "creator"], home: home).status == 0)
        let script = "printf own | secret-tool store --label=a a 1 && secret-tool lookup a 1"
        #expect(try Self.run(script, home: home).output == "own")
        let lookup = "secret-tool lookup service example.com < /dev/null"
        let refused = try Self.run(lookup, home: home)
        #expect(refused.status != 0 && refused.output.isEmpty, "\(refused)")
        let program = URL(filePath: "/usr/bin/secret-tool").resolvingSymlinksInPath().path
        #expect(try Executable.run("latchkey", ["consent", "allow", program], home: home).status == 0)
        #expect(try Self.run(lookup, home: home).output == "foreign")
    }

    @Test("latchkeyd knows the service by its executable, so there are collections as well")
    func daemon() throws {
        let daemon = try DaemonProcess()
        defer { daemon.stop() }
        #expect(try daemon.client("latchkey", ["collection", "create", "Work"]).output == "Work\n")
        let script = """
            printf one | secret-tool store --label=a service example.com username alice &&
            printf two | secret-tool store --collection=Work --label=b service example.org username alice &&
            secret-tool lookup service example.org
            """
        let outcome = try daemon.client(
            "latchkey", ["session", "--", "/bin/sh", "-c", script],
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
        #expect(outcome.status == 0 && outcome.output == "two", "\(outcome)")
        let list = try daemon.client("latchkey", ["collection", "list"]).output.split(separator: "\n")
        #expect(list.count == 2 && list[0].hasPrefix("login\tLogin\t1\t") && list[1].hasPrefix("Work\tWork\t1\t"))
        let deleted = try daemon.client("latchkey", ["collection", "delete", "--force", "Work"])
        #expect(deleted.status == 0 && deleted.error.contains("with 1 item"), "\(deleted)")
    }

    @Test("The exit value is that of the program; a missing one is 127")
    func exitValues() throws {
        let directory = try TemporaryDirectory()
        #expect(try Self.run("exit 7", home: directory.path).status == 7)
        let missing = try Executable.run(
            "latchkey", ["session", "--", "/nonexistent/program"], home: directory.path,
            environment: ["XDG_RUNTIME_DIR": directory.path])
        #expect(missing.status == 127)
    }

    @Test("The passcode of a file unlocks the keychain for the session; without it, it stays locked")
    func passcode() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let file = try Self.setPasscode(home)
        let script = "printf x | secret-tool store --label=a a 1 && secret-tool lookup a 1"
        #expect(try Self.run(script, home: home, ["--passcode-file", file]).output == "x")
        #expect(try Self.run("secret-tool lookup a 1", home: home).output.isEmpty)
    }

    @Test("With a daemon that it starts, the session unlocks the keychain for every program, and locks it at its end")
    func unlockedForAll() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let file = try Self.setPasscode(home)
        let security = "'\(Executable.path("latchkey"))' find-generic-password -s example.com -w"
        let script =
            "printf one | secret-tool store --label=a service example.com account alice && \(security) && secret-tool lookup account alice"
        let outcome = try Self.run(script, home: home, ["--passcode-file", file], startsDaemon: true)
        let daemon = try #require(try Self.daemon(home))
        defer {
            kill(daemon, SIGTERM)
            _ = eventually { !ProcessTable.isRunning(daemon) }
        }
        #expect(outcome.status == 0 && outcome.output == "one\none", "\(outcome)")
        let after = try Executable.run(
            "latchkey", ["find-generic-password", "-s", "example.com", "-w"], home: home,
            environment: ["XDG_RUNTIME_DIR": home])
        #expect(after.status != 0 && after.output.isEmpty, "\(after)")
        #expect(try Self.run("secret-tool lookup account alice", home: home).output.isEmpty)
    }

    @Test(
        "A program of the session is asked for the passcode on the terminal of latchkey session",
        .enabled(if: access("/usr/bin/pinentry-curses", X_OK) == 0, "pinentry-curses is not installed"))
    func asked() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let file = try Self.setPasscode(home)
        let stored = try Self.run(
            "printf one | secret-tool store --label=a a 1", home: home, ["--passcode-file", file])
        try #require(stored.status == 0, "\(stored)")
        let terminal = try PseudoTerminal()
        // Standard input is no terminal, so that the passcode is not asked for at the start.
        let session = try SpawnedProcess(
            [
                Executable.path("latchkey"), "session", "--", "/bin/sh", "-c",
                "secret-tool search --unlock a 1 > '\(home)/found'",
            ],
            environment: [
                "HOME": home, "LATCHKEY_HOME": home, "XDG_RUNTIME_DIR": home, "PATH": "/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
                "LATCHKEY_NO_DAEMON": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8",
            ], output: terminal.path)
        #expect(terminal.waitForPrompt("Passcode of the keychain:"), "\(terminal.screen)")
        terminal.type("correct horse battery\r")
        #expect(session.awaitExit() == 0, "\(terminal.screen)")
        #expect(try String(contentsOfFile: "\(home)/found", encoding: .utf8).contains("secret = one"))
    }

    @Test("Without a terminal, the session says why a prompt was dismissed")
    func dismissed() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        _ = try Self.setPasscode(home)
        let outcome = try Self.run(
            "secret-tool search --unlock a 1; printf x | secret-tool store --label=a a 1", home: home)
        #expect(outcome.status != 0)
        #expect(
            outcome.error.contains("a prompt is dismissed") && outcome.error.contains("latchkey unlock"), "\(outcome)")
    }

    @Test("Of two sessions at once the last one locks the keychain, also if the first has unlocked it")
    func lastOne() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let file = try Self.setPasscode(home)
        let latchkey = "'\(Executable.path("latchkey"))'"
        let script = """
            cd '\(home)'; until_exists() { for attempt in $(seq 600); do [ -e $1 ] && return; sleep 0.1; done; }
            first='printf one | secret-tool store --label=a a 1; touch first; for attempt in $(seq 600); do [ -e second ] && exit; sleep 0.1; done'
            \(latchkey) session --passcode-file '\(file)' -- /bin/sh -c "$first" &
            session=$!; until_exists first
            second='touch second; for attempt in $(seq 600); do [ -e ended ] && break; sleep 0.1; done; secret-tool lookup a 1 > found'
            \(latchkey) session -- /bin/sh -c "$second" &
            wait $session; touch ended; wait
            """
        let log = "\(home)/log"
        let shell = try SpawnedProcess(
            ["/bin/sh", "-c", script],
            environment: [
                "HOME": home, "LATCHKEY_HOME": home, "XDG_RUNTIME_DIR": home, "PATH": "/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
            ], output: log)
        let status = shell.awaitExit()
        let daemon = try #require(try Self.daemon(home))
        defer {
            kill(daemon, SIGTERM)
            _ = eventually { !ProcessTable.isRunning(daemon) }
        }
        let said = try String(contentsOfFile: log, encoding: .utf8)
        #expect(status == 0, "\(said)")
        #expect(try String(contentsOfFile: "\(home)/found", encoding: .utf8) == "one", "\(said)")
        #expect(try Self.run("secret-tool lookup a 1", home: home).output.isEmpty)
    }

    @Test("An on-demand daemon that was killed does not stop the service")
    func killedDaemon() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let log = "\(home)/daemon.log"
        let daemon = try SpawnedProcess(
            [Executable.path("latchkeyd"), "--user", "--on-demand"],
            environment: [
                "HOME": home, "LATCHKEY_HOME": home, "XDG_RUNTIME_DIR": home, "PATH": "/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no",
            ], output: log)
        let isListening = eventually { (try? Self.daemon(home)) == daemon.processIdentifier || !daemon.isRunning }
        try #require(isListening && daemon.isRunning, "\((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
        let script = """
            printf one | secret-tool store --label=a service example.com account alice || exit 1
            kill -9 \(daemon.processIdentifier)
            for attempt in $(seq 300); do secret-tool lookup account alice && break; sleep 0.1; done
            """
        let outcome = try Self.run(script, home: home)
        #expect(outcome.status == 0 && outcome.output == "one", "\(outcome)")
    }

    @Test("A second service on one bus names the first one")
    func second() throws {
        let directory = try TemporaryDirectory()
        let program = Executable.path("latchkey-secret-service")
        let outcome = try Self.run("'\(program)'; echo $?", home: directory.path)
        #expect(outcome.output == "1\n", "\(outcome)")
        #expect(outcome.error.contains("provides org.freedesktop.secrets on this bus already"), "\(outcome)")
        #expect(outcome.error.contains("hint: --replace"))
    }
}
