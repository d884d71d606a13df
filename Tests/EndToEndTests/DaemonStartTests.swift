// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

extension DaemonProofs {
    /// The latchkeyd that commands start where none is running.
    @Suite("Start of latchkeyd by commands")
    struct DaemonStartTests {
        private let directory: TemporaryDirectory
        private var socket: String { "\(directory.path)/home/.local/state/latchkey/socket" }

        init() throws {
            directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/home", withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }

        private var environment: [String: String] {
            [
                "HOME": "\(directory.path)/home", "LATCHKEY_HOME": "", "LATCHKEY_NO_DAEMON": "",
                "LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/none",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory.path)/none",
            ]
        }

        private func run(_ words: String..., input: String? = nil) throws -> Executable.Outcome {
            try Executable.run("latchkey", words, home: "", environment: environment, input: input)
        }

        /// The process of the daemon; nil if there is none.
        private func daemon() throws -> pid_t? {
            struct Status: Decodable {
                struct Daemon: Decodable {
                    let pid: pid_t
                    let onDemand: Bool
                }
                let daemon: Daemon?
            }
            let outcome = try run("status", "--json")
            try #require(outcome.status == 0, "\(outcome)")
            let daemon = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8)).daemon
            return daemon.flatMap { $0.onDemand ? $0.pid : nil }
        }

        private func end(_ process: pid_t, _ signal: Int32 = SIGTERM) {
            kill(process, signal)
            #expect(eventually { !ProcessTable.isRunning(process) })
        }

        @Test("A keychain that one process unlocks is open for the next, without a runtime directory", .long)
        func start() throws {
            #expect(
                try run("create-keychain", "-p", "pw", "build.keychain")
                    == Executable.Outcome(status: 0, output: "", error: ""))
            let process = try #require(try daemon())
            defer { end(process) }
            #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build").status == 0)
            #expect(try run("find-generic-password", "-s", "s", "-w").output == "x\n")
            #expect(try run("lock-keychain", "build").status == 0)
            #expect(try run("find-generic-password", "-s", "s", "-w").status == 36)
            #expect(try run("unlock-keychain", "-p", "wrong", "build").status == 51)
            #expect(try run("unlock-keychain", "-p", "pw", "build").status == 0)
            #expect(try run("find-generic-password", "-s", "s", "-w").output == "x\n")
            #expect(try daemon() == process)
        }

        /// Starts the daemon by a command with a locked descriptor of `mark`, and maybe without its three standard
        /// ones.
        private func start(closing: String, locking mark: String) throws -> pid_t {
            try Data().write(to: URL(filePath: mark))
            let script = "exec 7< '\(mark)' && flock 7 && exec \"$1\" create-keychain -p pw build \(closing)"
            let all = environment.merging(["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
            let shell = try SpawnedProcess(
                ["/bin/sh", "-c", script, "sh", Executable.path("latchkey")], environment: all,
                output: "\(directory.path)/output")
            #expect(shell.awaitExit() == 0)
            return try #require(try daemon())
        }

        @Test(
            "A file that a command has locked is free when the command ends, while the daemon that it started goes on",
            .long,
            arguments: ["", "0<&-", "0<&- 1>&- 2>&-"])
        func locks(_ closing: String) throws {
            let mark = "\(directory.path)/mark"
            let process = try start(closing: closing, locking: mark)
            defer { end(process) }
            let descriptor = open(mark, O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            #expect(getsid(process) == process)
        }

        @Test(
            "The daemon keeps no descriptor of the command that has started it, and no terminal", .long,
            .enabled(if: geteuid() == 0, "reads the descriptors of a process that its user may not read"),
            arguments: ["", "0<&-", "0<&- 1>&- 2>&-"])
        func descriptors(_ closing: String) throws {
            let mark = "\(directory.path)/mark"
            let process = try start(closing: closing, locking: mark)
            defer { end(process) }
            let descriptors = "/proc/\(process)/fd"
            // One that was closed in the meantime is not kept.
            let links = try FileManager.default.contentsOfDirectory(atPath: descriptors).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
            }
            #expect(links.count { $0 == "/dev/null" } >= 3)
            #expect(links.contains("anon_inode:[eventfd]"), "the descriptors of its waits are its own")
            #expect(!links.contains(mark) && !links.contains("\(directory.path)/output"), "\(links)")
        }

        @Test("A home with a path too long for a socket has one in /tmp, and works without a daemon, too")
        func longHome() throws {
            let home = "\(directory.path)/" + String(repeating: "h", count: 100)
            try FileManager.default.createDirectory(
                atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            func latchkey(_ words: String..., forbidsDaemon: Bool = false) throws -> Executable.Outcome {
                var environment = environment.merging(["HOME": home]) { $1 }
                if forbidsDaemon { environment["LATCHKEY_NO_DAEMON"] = "1" }
                return try Executable.run("latchkey", words, home: "", environment: environment)
            }
            #expect(
                try latchkey("add-generic-password", "-a", "a", "-s", "s", "-w", "x", forbidsDaemon: true).status == 0)
            #expect(try latchkey("create-keychain", "-p", "pw", "build").status == 0)
            #expect(try latchkey("add-generic-password", "-a", "a", "-s", "t", "-w", "y", "build").status == 0)
            #expect(try latchkey("find-generic-password", "-s", "t", "-w").output == "y\n")
            #expect(try latchkey("find-generic-password", "-s", "s", "-w").output == "x\n")
            // The daemon's socket is the only file that it has outside of the home.
            let status = try latchkey("status", "--json").output
            let process = try #require(status.firstMatch(of: #/"pid" : (\d+)/#).flatMap { pid_t($0.1) })
            end(process)
        }

        @Test("A daemon without its socket ends, also while a keychain is unlocked")
        func removedHome() throws {
            let daemon = try SpawnedProcess(
                [Executable.path("latchkeyd"), "--user", "--on-demand", "--idle-time", "1"],
                environment: environment.merging(["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 },
                output: "\(directory.path)/log")
            #expect(eventually { (try? self.daemon()) != nil || !daemon.isRunning })
            #expect(try run("create-keychain", "-p", "pw", "build").status == 0)
            try FileManager.default.removeItem(atPath: "\(directory.path)/home")
            try #require(eventually { !daemon.isRunning })
        }

        @Test("Eight commands at once start one daemon, and all of them succeed", .long)
        func together() throws {
            let all = environment.merging(["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
            let commands = try (0..<8).map { number in
                try SpawnedProcess(
                    [Executable.path("latchkey"), "create-keychain", "-p", "pw", "k\(number)"], environment: all,
                    output: "\(directory.path)/output-\(number)")
            }
            let outcomes = commands.map { $0.awaitExit() }
            let process = try #require(try daemon())
            defer { end(process) }
            #expect(outcomes.allSatisfy { $0 == 0 }, "\(outcomes)")
            let listed = try run("list-keychains").output
            for number in 0..<8 { #expect(listed.contains("/Library/Keychains/k\(number)-db\"")) }
        }

        @Test("LATCHKEY_NO_DAEMON forbids the start, and status says so")
        func forbidden() throws {
            var environment = environment
            environment["LATCHKEY_NO_DAEMON"] = "1"
            let created = try Executable.run(
                "latchkey", ["create-keychain", "-p", "pw", "build"], home: "", environment: environment)
            #expect(created.status == 0)
            #expect(try daemon() == nil && !FileManager.default.fileExists(atPath: socket))
            let status = try Executable.run("latchkey", ["status"], home: "", environment: environment)
            #expect(status.output.contains("LATCHKEY_NO_DAEMON=1 forbids"))
            let unlocked = try Executable.run(
                "latchkey", ["unlock-keychain", "-p", "pw", "build"], home: "", environment: environment)
            #expect(unlocked.status == 53)
        }

        @Test("After SIGKILL of the daemon the files are used without it, and the next command starts another one")
        func killed() throws {
            #expect(try run("create-keychain", "-p", "pw", "build").status == 0)
            let process = try #require(try daemon())
            #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build").status == 0)
            end(process, SIGKILL)
            #expect(FileManager.default.fileExists(atPath: socket))
            #expect(try daemon() == nil)
            #expect(try run("add-generic-password", "-a", "a", "-s", "login", "-w", "y", "login").status == 0)
            #expect(try run("unlock-keychain", "-p", "pw", "build").status == 0)
            let next = try #require(try daemon())
            defer { end(next) }
            #expect(next != process)
            #expect(try run("find-generic-password", "-s", "s", "-w").output == "x\n")
            #expect(try run("find-generic-password", "-s", "login", "-w").output == "y\n")
        }

        @Test(
            "A daemon that a command has started ends when nothing is unlocked and no process asks, and leaves nothing",
            .long,
            .long)
        func idle() throws {
            let log = "\(directory.path)/log"
            let daemon = try SpawnedProcess(
                [Executable.path("latchkeyd"), "--user", "--on-demand", "--idle-time", "1"],
                environment: environment.merging(["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { $1 },
                output: log)
            #expect(eventually { (try? self.daemon()) != nil || !daemon.isRunning })
            #expect(try run("create-keychain", "-p", "pw", "build").status == 0)
            // While a keychain is unlocked, it stays.
            sleep(3)
            #expect(daemon.isRunning)
            #expect(try run("lock-keychain", "build").status == 0)
            try #require(eventually { !daemon.isRunning })
            #expect(daemon.awaitExit() == 0)
            let data = "\(directory.path)/home/.local/share/latchkey"
            for path in [socket, "\(data)/daemon", "\(data)/keychains/build.keychain-db/daemon"] {
                #expect(!FileManager.default.fileExists(atPath: path), "\(path)")
            }
            #expect(try run("status").status == 0)
        }

        @Test("A file of another kind in the place of the socket is an error that names it, and is not removed")
        func foreignFile() throws {
            let state = "\(directory.path)/home/.local/state/latchkey"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data("mine".utf8).write(to: URL(filePath: socket))
            let outcome = try run("create-keychain", "-p", "pw", "build")
            #expect(outcome.status == 53 && outcome.error.contains(socket), "\(outcome)")
            #expect(try Data(contentsOf: URL(filePath: socket)) == Data("mine".utf8))
            #expect(try run("list-keychains").output.split(separator: "\n").count == 1)
        }
    }
}
