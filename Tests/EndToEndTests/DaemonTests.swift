// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

extension DaemonProofs {
    /// The daemon is started, used, killed and stopped, as real processes with real sockets.
    @Suite("Daemon")
    struct DaemonTests {
        // MARK: Discovery

        @Test(
            "Programs use the daemon automatically and are refused while it is not running; --release ends its ownership"
        )
        func ownership() throws {
            let daemon = try DaemonProcess()
            #expect(try daemon.client("ProofWorker", ["item", "add", "a", "v"]).output == "0\n")
            #expect(
                try daemon.client("latchkey", ["find-generic-password", "-a", "a", "-s", "proof", "-w"]).output == "v\n"
            )
            #expect(try daemon.client("latchkey", ["status", "--json"]).output.contains(#""mode" : "user""#))
            #expect(daemon.stop() == 0)

            let away = try daemon.client("latchkey", ["find-generic-password", "-a", "a", "-s", "proof", "-w"])
            #expect(away.status == Int32(OSStatusCode.notAvailable.exitCode))
            #expect(
                away.error.contains("belongs to latchkeyd") && away.error.contains("hint: systemctl"), "\(away.error)")
            // A keychain that cannot be reached is not reported as missing.
            for command in ["status", "who"] {
                let unknown = try daemon.client("latchkey", [command])
                #expect(unknown.status == away.status && unknown.output.isEmpty, "\(unknown)")
            }
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "-25291\n")

            let release = try daemon.client("latchkeyd", ["--user", "--release"])
            #expect(release.status == 0, "\(release.error)")
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "0 v\n")
            #expect(try daemon.client("latchkey", ["status", "--json"]).output.contains(#""mode" : "embedded""#))
        }

        @Test("A program with another LATCHKEY_HOME opens that keychain itself")
        func otherHome() throws {
            let daemon = try DaemonProcess()
            let other = try TemporaryDirectory()
            let outcome = try daemon.client(
                "latchkey", ["status", "--json"], environment: ["LATCHKEY_HOME": other.path])
            #expect(outcome.output.contains(#""mode" : "embedded""#), "\(outcome)")
            #expect(
                try daemon.client("latchkeyd", ["--user", "--release"]).error.contains(
                    "another latchkeyd owns the keychain"))
        }

        @Test("A socket of another user is not trusted", .enabled(if: geteuid() == 0, "needs root's socket"))
        func untrusted() throws {
            let daemon = try DaemonProcess()
            let connector = SocketConnector(path: daemon.socket) { $0 == 12345 }
            let error = #expect(throws: KeychainError.self) { try connector.connect() }
            #expect(error?.status == .notAvailable && error?.problem.contains("untrusted user") == true)
        }

        @Test("The daemon prints the arguments that it rejects, and its help")
        func words() throws {
            let home = try TemporaryDirectory()
            let refusal = try Executable.run("latchkeyd", ["--user", "\u{1B}[2J\u{202E}x"], home: home.path)
            #expect(refusal.status == 64 && refusal.output.isEmpty)
            #expect(refusal.error.contains("\\x1b[2J\\u{202e}x") && !refusal.error.contains("\u{1B}"), "\(refusal)")
            let help = try Executable.run("latchkeyd", ["--help"], home: home.path)
            #expect(help.status == 0 && help.output.hasPrefix("OVERVIEW: ") && help.error.isEmpty)
            let version = try Executable.run("latchkeyd", ["--version"], home: home.path)
            #expect(version.output == "\(LatchkeyVersion.current)\n")
        }

        @Test("A crash of the daemon prints nothing", arguments: [SIGSEGV, SIGILL, SIGABRT])
        func crash(signal: Int32) throws {
            // The setting of the Swift runtime that prints a backtrace.
            let daemon = try DaemonProcess(environment: ["SWIFT_BACKTRACE": "color=no"])
            // The only line of a daemon without a bus.
            #expect(eventually { daemon.logText.contains("the system bus cannot be used") })
            let before = daemon.logText
            #expect(daemon.process.stop(signal: signal) == 128 + signal)
            #expect(daemon.logText == before)
        }

        // MARK: Socket

        @Test(
            "The socket of a killed daemon is replaced; a second daemon with the same socket or home is refused"
        )
        func sockets() throws {
            let daemon = try DaemonProcess()
            daemon.stop(signal: SIGKILL)
            #expect(access(daemon.socket, F_OK) == 0)
            try daemon.start()
            #expect(try daemon.client("latchkey", ["status"]).status == 0)

            let second = try daemon.client(
                "latchkeyd", ["--user"], environment: ["LATCHKEY_HOME": "\(daemon.directory.path)/second"])
            #expect(
                second.status == 1 && second.error.contains("Address already in use") && second.error.contains("hint:"),
                "\(second.error)")
            let sameHome = try daemon.client("latchkeyd", ["--user", "--socket", "\(daemon.runtime)/latchkey/other"])
            #expect(
                sameHome.status == 1 && sameHome.error.contains("another latchkeyd owns the keychain"),
                "\(sameHome.error)")
            #expect(daemon.stop() == 0)
            #expect(access(daemon.socket, F_OK) != 0, "the daemon must remove the name of its socket")
        }

        @Test(
            "A file that is not a socket is not replaced; a directory that others can access is refused with a chmod hint"
        )
        func places() throws {
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/run/latchkey", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try "mine".write(toFile: "\(directory.path)/run/latchkey/socket", atomically: true, encoding: .utf8)
            let file = try DaemonProcess(in: directory, waits: false)
            #expect(file.process.awaitExit() == 1 && file.logText.contains("it is not a socket"), "\(file.logText)")
            #expect(try String(contentsOfFile: "\(directory.path)/run/latchkey/socket", encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: "\(directory.path)/run/latchkey/socket")
            chmod("\(directory.path)/run/latchkey", 0o755)
            let open = try DaemonProcess(in: directory, waits: false)
            #expect(open.process.awaitExit() == 1 && open.logText.contains("hint: chmod 700"), "\(open.logText)")
        }

        @Test("A path that is too long for a socket is rejected with the path")
        func longPath() throws {
            let path = "/tmp/" + String(repeating: "x", count: 120)
            let outcome = try Executable.run(
                "latchkeyd", ["--user", "--socket", path], home: try TemporaryDirectory().path)
            #expect(outcome.status == 1)
            rmdir(path)
            let daemon = try TemporaryDirectory()
            let long = try Executable.run(
                "latchkeyd", ["--user", "--socket", "\(daemon.path)/\(String(repeating: "s", count: 100))"],
                home: "\(daemon.path)/home")
            #expect(long.status == 1 && long.error.contains("107 bytes"), "\(long.error)")
        }

        // MARK: The service manager

        @Test(
            "With socket activation the daemon serves the socket that it receives, and does not remove it",
            .timeLimit(.minutes(10)))
        func activation() throws {
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/run/latchkey", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let socket = "\(directory.path)/run/latchkey/socket"
            let names = ["LATCHKEY_HOME", "XDG_RUNTIME_DIR", "SWIFT_BACKTRACE"].flatMap { ["-E", $0] }
            let daemon = try DaemonProcess(
                launcher: ["/usr/bin/systemd-socket-activate", "-l", socket] + names, in: directory)
            #expect(try daemon.client("ProofWorker", ["item", "add", "a", "v"]).output == "0\n")
            #expect(try daemon.client("latchkey", ["status", "--json"]).output.contains(#""mode" : "user""#))
            #expect(daemon.stop() == 0)
            #expect(access(socket, F_OK) == 0, "the socket belongs to the service manager")
        }

        @Test("The daemon notifies the service manager when it is ready, alive and stopping")
        func notifications() throws {
            let directory = try TemporaryDirectory()
            let path = "\(directory.path)/notify"
            let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(receiver) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            var time = timeval(tv_sec: 300, tv_usec: 0)
            setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
            func message() -> String {
                var buffer = [UInt8](repeating: 0, count: 200)
                let count = recv(receiver, &buffer, 200, 0)
                return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            }
            let daemon = try DaemonProcess(
                environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "100000"], in: directory)
            #expect(message().hasPrefix("READY=1"))
            for _ in 0..<3 { #expect(message() == "WATCHDOG=1") }
            daemon.stop()
            var last = message()
            while last == "WATCHDOG=1" { last = message() }
            #expect(last == "STOPPING=1")
        }

        @Test(
            "systemd accepts the unit files",
            .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "needs systemd-analyze"),
            arguments: [("system", 4), ("user", 4)])
        func units(_ kind: String, count: Int) throws {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../Packaging/systemd/\(kind)"
            )
            .standardized
            let directory = try TemporaryDirectory()
            var names: [String] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                // The unit names the installed programs; this test uses those that were built.
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                let path = "\(directory.path)/\(name)"
                let programs = ["latchkeyd", "latchkey-biometry-digest", "latchkey-secret-service", "latchkey"]
                try programs.reduce(text) { text, program in
                    text.replacing(
                        try Regex("/usr/(bin|libexec/latchkey)/\(program)(?![a-z-])"), with: Executable.path(program))
                }.write(toFile: path, atomically: true, encoding: .utf8)
                names.append(path)
            }
            #expect(names.count == count)
            let analyze = Process()
            analyze.executableURL = URL(filePath: "/usr/bin/systemd-analyze")
            analyze.arguments =
                ["verify", "--man=no", "--recursive-errors=no"] + (kind == "user" ? ["--user"] : []) + names.sorted()
            analyze.environment = ["XDG_RUNTIME_DIR": directory.path, "HOME": directory.path]
            let output = Pipe()
            analyze.standardError = output
            analyze.standardOutput = output
            try analyze.start()
            let said = String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self)
            #expect(analyze.awaitExit() == 0, "\(said)")
            #expect(!said.contains("latchkey"), "\(said)")
        }

        // MARK: Restarts

        @Test("A connected program continues after the daemon was restarted or killed")
        func reconnecting() throws {
            let daemon = try DaemonProcess()
            let service = DaemonService(SocketConnector.user(daemon.socket)) { CallerIdentity(executable: "test") }
            defer { service.close() }
            let caller = CallerIdentity(executable: "test")
            func add(_ account: String) throws {
                _ = try service.by(caller).add(
                    ItemAddition(.genericPassword, attributes: [.account: .string(account), .service: .string("s")]))
            }
            try add("before")
            daemon.stop()
            try daemon.start()
            try add("after the restart")
            daemon.stop(signal: SIGKILL)
            // The daemon is restarted after a delay, as by a service manager.
            let restarted = Thread {
                usleep(300_000); try? daemon.start()
            }
            restarted.start()
            // On a slow machine the daemon takes longer to start than the client waits.
            #expect(eventually { (try? add("after the kill")) != nil })
            #expect(try service.administrator.status().counts.reduce(0) { $0 + $1.count } == 3)
            #expect(eventually { restarted.isFinished })
        }

        @Test(
            "A daemon that is killed during writes of eight programs loses no acknowledged write, and its log is intact",
            .long
        )
        func killedWhileWriting() throws {
            let rounds = ProcessInfo.processInfo.environment["LATCHKEY_DAEMON_ROUNDS"].flatMap(Int.init) ?? 6
            for round in 0..<rounds {
                let daemon = try DaemonProcess()
                let writers = try (0..<8).map { number in
                    try WatchedWorker(
                        ["write", "w\(round).\(number)"], home: daemon.home, environment: daemon.environment)
                }
                for writer in writers { writer.wait(forLines: Int.random(in: 2...6), startingWith: "did") }
                daemon.stop(signal: SIGKILL)
                var acknowledged: [String: String] = [:]
                var attempted: [String: String] = [:]
                for line in writers.flatMap({ $0.kill() }) {
                    let words = line.split(separator: " ").map(String.init)
                    let value = "\(words[2]):\(words[1] == "add" ? 0 : 1)"
                    if words[0] == "did" { acknowledged[words[2]] = value } else { attempted[words[2]] = value }
                }
                #expect(acknowledged.count >= 8, "too few acknowledged writes")
                try daemon.start()
                #expect(try daemon.client("latchkey", ["log", "verify"]).output.hasPrefix("intact"))
                daemon.stop()
                #expect(try daemon.client("latchkeyd", ["--user", "--release"]).status == 0)
                let keychain = try EmbeddedService(home: KeychainHome(root: daemon.home))
                defer { keychain.close() }
                let caller = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
                for (account, value) in acknowledged {
                    let query = ItemQuery(
                        .genericPassword, attributes: [.service: .string("proof"), .account: .string(account)])
                    let found = try keychain.items.copyMatching(query, returning: .data, from: caller).records.first?
                        .secrets?
                        .data?
                        .withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                    #expect(found == value || found == attempted[account], "\(account)")
                }
            }
        }

        // MARK: The lock

        @Test(
            "Every program can lock and unlock; with-passcode unlocks only for its children, without a passcode in arguments or environment",
            .long
        )
        func lock() throws {
            let daemon = try DaemonProcess()
            let passcode = "\(daemon.directory.path)/passcode"
            try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: passcode))
            chmod(passcode, 0o600)
            #expect(try daemon.client("ProofWorker", ["item", "add", "a", "v"]).output == "0\n")
            #expect(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", passcode]).status == 0)
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "0 v\n")
            #expect(try daemon.client("latchkey", ["lock", "--now"]).status == 0)
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "-25308\n")

            let script = """
                "\(Executable.path("ProofWorker"))" item find a -
                tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$PPID/environ
                """
            let inside = try daemon.client(
                "latchkey", ["with-passcode", "--passcode-file", passcode, "--", "/bin/sh", "-c", script])
            #expect(inside.output.hasPrefix("0 v\n"), "\(inside)")
            #expect(!inside.output.contains("horse"))
            #expect(inside.output.contains("LATCHKEY_SESSION_FD="))
            // For all other programs nothing has changed.
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "-25308\n")
            #expect(
                try daemon.client(
                    "ProofWorker", ["item", "find", "a", "-"], environment: ["LATCHKEY_PASSCODE_FILE": passcode]
                ).output
                    == "0 v\n")
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "-25308\n")

            #expect(try daemon.client("latchkey", ["unlock", "--passcode-file", passcode]).status == 0)
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "0 v\n")
            let wrong = "\(daemon.directory.path)/wrong"
            try Data("another passcode\n".utf8).write(to: URL(filePath: wrong))
            chmod(wrong, 0o600)
            let refused = try daemon.client("latchkey", ["with-passcode", "--passcode-file", wrong, "--", "true"])
            #expect(refused.status == Int32(OSStatusCode.authFailed.exitCode))
        }

        @Test(
            "Without a daemon, with-passcode serves its children itself and returns the program's exit status", .long,
            arguments: [0, 7, 126, 127])
        func embeddedSession(_ expected: Int32) throws {
            let home = try TemporaryDirectory()
            let passcode = "\(home.path)/passcode"
            try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: passcode))
            chmod(passcode, 0o600)
            #expect(try Executable.run("ProofWorker", ["item", "add", "a", "v"], home: home.path).output == "0\n")
            #expect(
                try Executable.run("latchkey", ["passcode", "set", "--passcode-file", passcode], home: home.path).status
                    == 0)
            let command: [String]
            switch expected {
            case 126: command = [home.path]
            case 127: command = ["no-such-program"]
            default:
                command = ["/bin/sh", "-c", "\"\(Executable.path("ProofWorker"))\" item find a - && exit \(expected)"]
            }
            let outcome = try Executable.run(
                "latchkey", ["with-passcode", "--passcode-file", passcode, "--"] + command, home: home.path)
            #expect(outcome.status == expected, "\(outcome)")
            if expected < 100 { #expect(outcome.output == "0 v\n") }
        }

        @Test("A recovery key works through the daemon while the daemon holds the keychain", .long)
        func recovery() throws {
            let daemon = try DaemonProcess()
            let (old, new, paper) = (
                "\(daemon.directory.path)/old", "\(daemon.directory.path)/new", "\(daemon.directory.path)/paper"
            )
            try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: old))
            try Data("wrong donkey charger nail\n".utf8).write(to: URL(filePath: new))
            #expect(try daemon.client("ProofWorker", ["item", "add", "a", "v"]).output == "0\n")
            for path in [old, new] { chmod(path, 0o600) }
            #expect(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", old]).status == 0)
            let key = try daemon.client("latchkey", ["recovery-key", "create", "--passcode-file", old])
            try Data(key.output.utf8).write(to: URL(filePath: paper))
            chmod(paper, 0o600)
            let used = try daemon.client(
                "latchkey", ["recovery-key", "use", "--key-file", paper, "--passcode-file", new])
            #expect(used.status == 0, "\(used)")
            #expect(try daemon.client("latchkey", ["unlock", "--passcode-file", old]).status != 0)
            #expect(try daemon.client("latchkey", ["unlock", "--passcode-file", new]).status == 0)
            #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "0 v\n")
        }

        // MARK: Identities

        @Test(
            "Programs with different identifiers see only their own items; one with both groups sees both; a missing group is −34018"
        )
        func identities() throws {
            let daemon = try DaemonProcess()
            func program(_ name: String, _ groups: [String]) throws {
                let path = "\(daemon.directory.path)/\(name)"
                try FileManager.default.copyItem(atPath: Executable.path("ProofWorker"), toPath: path)
                try PropertyListSerialization.data(
                    fromPropertyList: ["keychain-access-groups": groups], format: .xml, options: 0
                )
                .write(to: URL(filePath: "\(path).entitlements"))
            }
            try program("mail", ["com.example.mail"])
            try program("notes", ["com.example.notes"])
            try program("both", ["com.example.mail", "com.example.notes"])
            func run(_ name: String, _ words: [String]) throws -> String {
                try daemon.client("../\(name)", words, at: "\(daemon.directory.path)/\(name)")
            }
            #expect(try run("mail", ["item", "add", "alice", "from-mail"]) == "0\n")
            #expect(try run("notes", ["item", "add", "alice", "from-notes"]) == "0\n")
            #expect(try run("mail", ["item", "find", "alice", "-"]) == "0 from-mail\n")
            #expect(try run("notes", ["item", "find", "alice", "-"]) == "0 from-notes\n")
            #expect(try run("both", ["item", "find", "alice", "-"]) == "0 from-mail from-notes\n")
            #expect(try run("mail", ["item", "find", "alice", "-", "com.example.notes"]) == "-34018\n")
            #expect(try run("mail", ["item", "add", "bob", "x", "com.example.notes"]) == "-34018\n")
            #expect(try run("notes", ["item", "delete", "alice", "-", "com.example.mail"]) == "-34018\n")
            // A program without an identity has none of these groups, and the user's own command
            // has all of them.
            #expect(try daemon.client("ProofWorker", ["item", "find", "alice", "-"]).output == "-25300\n")
            #expect(
                try daemon.client("latchkey", ["dump-keychain"]).output.components(separatedBy: "\"acct\"").count == 3)
            // If a passcode is set, the command can read their secrets only with it.
            let passcode = "\(daemon.directory.path)/passcode"
            try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: passcode))
            chmod(passcode, 0o600)
            #expect(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", passcode]).status == 0)
            let find = ["find-generic-password", "-a", "alice", "--access-group", "com.example.mail", "-w"]
            let refused = try daemon.client("latchkey", find)
            #expect(refused.output.isEmpty && refused.error.contains("only with the passcode"), "\(refused)")
            #expect(try daemon.client("latchkey", find + ["--passcode-file", passcode]).output == "from-mail\n")
            #expect(
                try daemon.client(
                    "latchkey",
                    ["with-passcode", "--passcode-file", passcode, "--", Executable.path("latchkey")] + find
                )
                .output == "from-mail\n")
            #expect(try run("mail", ["item", "find", "alice", "-"]) == "0 from-mail\n")
        }

        @Test(
            "A connection is unusable for others after its process has ended, even if the process id is reused",
            .timeLimit(.minutes(10)))
        func endedCaller() throws {
            let daemon = try DaemonProcess()
            let place = "\(daemon.directory.path)/place"
            let listener = try Socket(listeningAt: place, permissions: 0o600)
            let addedBy = try SpawnedProcess(
                [Executable.path("ProofWorker"), "hand-over", daemon.socket, place], environment: [:],
                output: "\(daemon.directory.path)/maker")
            let way = try #require(try listener.accept(until: StopSignal()))
            guard case .socket(let connection) = try way.receiveDescriptor() else {
                Issue.record("no connection arrived")
                return
            }
            let service = DaemonService(HandedConnector(connection: connection)) {
                CallerIdentity(executable: "/usr/bin/example")
            }
            #expect(try service.administrator.lockStatus().hasPasscode == false)
            addedBy.stop(signal: SIGKILL)
            func isRefused() -> Bool {
                do throws(KeychainError) {
                    _ = try service.administrator.lockStatus()
                    return false
                } catch {
                    return error.problem.contains("has ended")
                }
            }
            #expect(isRefused())
            // Root can make the kernel reuse the process id, if no other process gets it first.
            var heir: SpawnedProcess?
            for _ in 0..<200 where heir?.processIdentifier != addedBy.processIdentifier {
                let last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY)
                guard last >= 0 else {
                    reportSkipped("a connection whose process id is reused (needs root)")
                    return
                }
                let text = "\(addedBy.processIdentifier - 1)"
                _ = write(last, text, text.utf8.count)
                close(last)
                heir = try SpawnedProcess(
                    ["/bin/sleep", "60"], environment: [:], output: "\(daemon.directory.path)/heir")
            }
            guard heir?.processIdentifier == addedBy.processIdentifier else {
                reportSkipped(
                    "a connection whose process id is reused (another process got the id)")
                return
            }
            #expect(isRefused())
            withExtendedLifetime(heir) {}
        }

        private struct HandedConnector: DaemonConnector {
            let connection: Socket
            func connect() throws(KeychainError) -> Socket { connection }
        }

        @Test(
            "A program that has the keychain open itself continues through a daemon that takes ownership",
            .timeLimit(.minutes(10)))
        func takenOver() throws {
            let directory = try TemporaryDirectory()
            let flag = "\(directory.path)/flag"
            // A process checks every tenth of a second whether its home belongs to a daemon, so the
            // script waits for longer.
            let words =
                "echo add-generic-password -a a -s s -w v; for i in $(seq 6000); do [ ! -e \(flag) ] || break; sleep 0.05; done; sleep 0.2; echo status"
            let program = try SpawnedProcess(
                ["/bin/sh", "-c", "(\(words)) | \(Executable.path("latchkey")) -i"],
                environment: [
                    "LATCHKEY_HOME": "\(directory.path)/home", "XDG_RUNTIME_DIR": "\(directory.path)/run",
                    "PATH": "/usr/bin:/bin",
                ], output: "\(directory.path)/program")
            let database = "\(directory.path)/home/data/keychain.db"
            #expect(eventually { access(database, F_OK) == 0 })
            let daemon = try DaemonProcess(in: directory)
            #expect(FileManager.default.createFile(atPath: flag, contents: nil))
            #expect(program.awaitExit() == 0)
            let said = try String(contentsOfFile: "\(directory.path)/program", encoding: .utf8)
            #expect(said.contains("latchkeyd") && !said.contains("embedded"), "\(said)")
            withExtendedLifetime(daemon) {}
        }

        // MARK: System mode

        @Test(
            "In system mode a user's programs cannot read the database or the device key, and each user has a separate keychain",
            .enabled(if: SystemDaemon.isPossible, SystemDaemon.reason))
        func systemMode() throws {
            let daemon = try SystemDaemon()
            func item(_ user: uid_t, _ words: String...) throws -> String {
                try daemon.run(as: user, "ProofWorker", ["item"] + words)
            }
            #expect(try item(4001, "add", "a", "of-4001") == "0\n")
            #expect(try item(4002, "add", "a", "of-4002") == "0\n")
            #expect(try item(4001, "find", "a", "-") == "0 of-4001\n")
            #expect(try item(4002, "find", "a", "-") == "0 of-4002\n")
            #expect(try daemon.run(as: 4001, "latchkey", ["status", "--json"]).contains(#""mode" : "system""#))
            #expect(try daemon.run(as: 4001, "latchkey", ["who"]).contains("4001 (attested"))

            let files = try FileManager.default.subpathsOfDirectory(atPath: daemon.state).filter {
                $0.hasSuffix("keychain.db") || $0.hasSuffix("device.key")
            }
            #expect(files.count == 4)
            for file in files {
                #expect(
                    try daemon.shell(as: 4001, "cat '\(daemon.state)/\(file)' 2>&1 || true").contains(
                        "Permission denied"))
            }
            #expect(try daemon.shell(as: 4001, "ls '\(daemon.state)' 2>&1 || true").contains("Permission denied"))
            daemon.process.stop()
            // If the configuration requires the daemon, no program creates a keychain in its place, even without its
            // socket and service.
            #expect(try item(4001, "find", "a", "-") != "0 of-4001\n")
        }

        @Test(
            "In system mode a subordinate user id has no keychain as soon as the file grants it, and the error says why",
            .enabled(if: SystemDaemon.isPossible, SystemDaemon.reason))
        func subordinateUsers() throws {
            let daemon = try SystemDaemon()
            func item(_ user: uid_t, _ words: String...) throws -> String {
                try daemon.run(as: user, "ProofWorker", ["item"] + words)
            }
            #expect(try item(40_001, "add", "a", "before") == "0\n")
            try "alice:40000:1000\n".write(toFile: daemon.subuid, atomically: true, encoding: .utf8)
            chmod(daemon.subuid, 0o644)
            #expect(try item(40_001, "find", "a", "-").hasPrefix("-34018"))
            #expect(try item(40_002, "add", "a", "after").hasPrefix("-34018"))
            #expect(!FileManager.default.fileExists(atPath: "\(daemon.state)/users/40002"))
            let said = try daemon.shell(as: 40_001, "'\(daemon.path("latchkey"))' status 2>&1 || true")
            #expect(said.contains("subordinate user id") && said.contains("subordinate-users = allow"), "\(said)")
            #expect(try item(4001, "add", "a", "of-4001") == "0\n")
            // The stored items are found again after the range is removed from the file.
            try FileManager.default.removeItem(atPath: daemon.subuid)
            #expect(try item(40_001, "find", "a", "-") == "0 before\n")
        }
    }
}
