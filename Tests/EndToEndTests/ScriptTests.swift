// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The scripts that `make` runs, with fake programs in place of the machine's.
@Suite("Scripts")
struct ScriptTests {
    // MARK: dependencies

    @Test("Nothing is installed and root is not needed if everything is present")
    func present() throws {
        let machine = try FakeMachine([
            "swift": "", "id": "echo 1000", "sudo": "echo sudo $* >> $CALLS", "apt-get": "echo $* >> $CALLS",
        ])
        let outcome = try machine.run("build/dependencies", ["sh"], path: machine.programs)
        #expect(outcome.status == 0 && outcome.printed.hasPrefix("All dependencies"), "\(outcome)")
        #expect(machine.calls.isEmpty)
    }

    @Test(
        "Without Debian or sudo, missing packages are named and the build continues",
        arguments: [["swift": "", "id": "echo 0"], ["swift": "", "id": "echo 1000", "apt-get": "echo $* >> $CALLS"]])
    func missing(_ programs: [String: String]) throws {
        let machine = try FakeMachine(programs)
        let outcome = try machine.run("build/dependencies", ["sh", "no-such-tool"], path: machine.programs)
        #expect(outcome.status == 0)
        #expect(
            outcome.printed.contains("not found: no-such-tool ") && outcome.printed.contains("hint: "), "\(outcome)")
        #expect(machine.calls.isEmpty)
    }

    @Test("On Debian only the missing packages are installed, with sudo")
    func installed() throws {
        let machine = try FakeMachine(["swift": "", "id": "echo 1000", "sudo": "echo sudo $* >> $CALLS", "apt-get": ""])
        let outcome = try machine.run("build/dependencies", ["sh", "no-such-tool"], path: machine.programs)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(machine.calls.last?.hasSuffix("--no-install-recommends no-such-tool") == true, "\(machine.calls)")
    }

    @Test("Without a Swift toolchain nothing is built, and the hint says where to get one")
    func noToolchain() throws {
        let machine = try FakeMachine([:])
        let outcome = try machine.run("build/dependencies", ["sh"], path: machine.programs)
        #expect(outcome.status == 1 && outcome.printed.contains("hint: "), "\(outcome)")
    }

    // MARK: test

    @Test(
        "The tests do not use the user's keychain; skipped tests are listed at the end, and the exit status is preserved",
        arguments: [0, 1])
    func skipped(_ status: Int32) throws {
        let output = """
            printf '➜ Test "a proof" skipped: "needs root"\\n\\033[90m➜\\033[0m Suite "others" skipped.\\n'
            printf '➜ Test "Recording" skipped: "only to record new ones"\\n✔ Test "what is skipped" passed after 1 seconds.\\n'
            printf 'skipped: half of a proof\\n'; echo "$LATCHKEY_HOME $XDG_DATA_HOME $XDG_STATE_HOME"; echo "$*"; exit \(status)
            """
        let machine = try FakeMachine(["swift": output])
        let outcome = try machine.run("check/test", ["--filter", "A"], path: "\(machine.programs):/usr/bin:/bin")
        #expect(outcome.status == status)
        let words = "test --enable-all-traits --skip-build --experimental-maximum-parallelization-width 8 --filter A\n"
        #expect(outcome.printed.contains(words), "\(outcome)")
        #expect(!outcome.printed.contains(machine.home), "\(outcome)")
        let end = outcome.printed.components(separatedBy: "Skipped tests:\n").last?.split(
            separator: "\n"
        ).map(String.init)
        #expect(
            Set(end ?? []) == [
                "➜ Test \"a proof\" skipped: \"needs root\"", "➜ Suite \"others\" skipped.", "skipped: half of a proof",
            ])
    }

    @Test("No variable of the caller's session reaches the tests, but those of the build and of the tests do")
    func variables() throws {
        let hidden = [
            "LATCHKEY_KEYCHAIN", "LATCHKEY_NO_DAEMON", "LATCHKEY_EPHEMERAL", "LATCHKEY_PASSCODE_FILE",
            "LATCHKEY_SESSION_FD", "LATCHKEY_SYSTEM_SOCKET", "LATCHKEY_TPM", "LATCHKEY_LOG", "LATCHKEY_A_FUTURE_ONE",
            "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID", "DISPLAY",
            "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME",
            "SWIFT_DETERMINISTIC_HASHING",
        ]
        let kept = [
            "LATCHKEY_TEST_WAIT_SECONDS", "LATCHKEY_BUILD_OPTIONS", "LATCHKEY_STRICT", "LATCHKEY_SOAK_SECONDS",
            "LATCHKEY_CRASH_ROUNDS", "LATCHKEY_SECRET_SERVICE_CRASH_ROUNDS", "LATCHKEY_TAMPER_STEP", "LATCHKEY_PKITS",
            "LATCHKEY_PAGES", "LATCHKEY_RECORD", "LATCHKEY_RECORD_CORPUS", "LATCHKEY_RECORD_VECTOR", "LATCHKEY_USERS",
            "LATCHKEY_SEED",
        ]
        let machine = try FakeMachine(["swift": "env"])
        let values = Dictionary(uniqueKeysWithValues: (hidden + kept).map { ($0, "of the caller") })
        let outcome = try machine.run("check/test", [], path: "\(machine.programs):/usr/bin:/bin", more: values)
        #expect(outcome.status == 0, "\(outcome)")
        let found = outcome.printed.split(separator: "\n").filter { $0.hasSuffix("=of the caller") }
            .compactMap { $0.split(separator: "=").first.map(String.init) }
        #expect(Set(found) == Set(kept))
    }

    @Test("The short form is known to the tests, and is no option of theirs", arguments: [true, false])
    func short(_ isShort: Bool) throws {
        let machine = try FakeMachine(["swift": "echo \"short: $LATCHKEY_TEST_SHORT.\"; echo \"$*\""])
        let outcome = try machine.run(
            "check/test", isShort ? ["--short", "--filter", "A"] : ["--filter", "A"],
            path: "\(machine.programs):/usr/bin:/bin", more: ["LATCHKEY_TEST_SHORT": isShort ? "0" : "1"])
        #expect(outcome.status == 0 && outcome.printed.contains("short: \(isShort ? "1" : "")."), "\(outcome)")
        #expect(outcome.printed.contains("width 8 --filter A\n"), "\(outcome)")
    }

    @Test("A run is stopped when no test ends, and names the tests and the processes that they wait for")
    func hangs() throws {
        let machine = try FakeMachine([
            "swift": """
            echo '◇ Test "a hanging one" started.'; echo '◇ Test other() started.'; echo '◇ Test third() started.'
            echo '✔ Test other() with 2 test cases passed after 0.1 seconds.'
            echo '✘ Test third() failed after 0.1 seconds with 1 issue.'
            sleep 100000; echo "after it"
            """
        ])
        let outcome = try machine.run(
            "check/test", [], path: "\(machine.programs):/usr/bin:/bin", more: ["LATCHKEY_TEST_SILENCE_SECONDS": "1"])
        #expect(outcome.status != 0)
        let end = outcome.printed.components(separatedBy: "Still running:\n").last ?? ""
        #expect(end.hasPrefix("Test \"a hanging one\"\nThey wait for these processes:\n"), "\(outcome)")
        #expect(end.contains(" sleep 100000 ") && !outcome.printed.contains("after it"), "\(outcome)")
    }
}

/// A directory of fake programs, and a log of their arguments.
private struct FakeMachine {
    private let directory: TemporaryDirectory

    var programs: String { "\(directory.path)/programs" }
    /// The directory that the user's environment variables name.
    var home: String { "\(directory.path)/home" }
    var calls: [String] {
        ((try? String(contentsOfFile: "\(directory.path)/calls", encoding: .utf8)) ?? "").split(separator: "\n").map(
            String.init)
    }

    /// - Parameter programs: shell code by the name of the program.
    init(_ programs: [String: String]) throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: self.programs, withIntermediateDirectories: true)
        for (name, lines) in programs {
            _ = FileManager.default.createFile(
                atPath: "\(self.programs)/\(name)", contents: Data("#!/bin/sh\n\(lines)\n".utf8),
                attributes: [.posixPermissions: 0o755])
        }
    }

    /// Runs one of the scripts; returns its output, including errors.
    func run(
        _ script: String, _ arguments: [String], path: String, more: [String: String] = [:]
    ) throws -> (status: Int32, printed: String) {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/\(script)")
            .standardized.path
        let output = "\(directory.path)/output"
        let process = try SpawnedProcess(
            ["/bin/bash", file] + arguments,
            environment: [
                "PATH": path, "CALLS": "\(directory.path)/calls", "HOME": home, "LATCHKEY_HOME": home,
                "XDG_DATA_HOME": home,
                "XDG_STATE_HOME": home,
            ].merging(more) { $1 }, output: output)
        return (process.awaitExit(), try String(contentsOfFile: output, encoding: .utf8))
    }
}
