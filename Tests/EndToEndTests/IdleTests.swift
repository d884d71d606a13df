// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

extension DaemonProofs {
    /// The cost of daemons and their clients while nothing happens.
    @Suite("Idle processes")
    struct IdleTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        @Test("Processes do not count as idle if the process that measures the time has ended")
        func measuring() throws {
            let sleeper = try SpawnedProcess(["/bin/sleep", "600"], environment: [:], output: "/dev/null")
            defer { sleeper.stop(signal: SIGKILL) }
            let found = try Rest.restless(["sleep": sleeper.processIdentifier], in: directory, pulse: "exit 0")
            #expect(found?.hasPrefix("nothing was measured") == true)
        }

        @Test("Idle daemons sleep: without a bus, with an unlocked keychain, a closed one, and a waiting agent", .long)
        func daemons() throws {
            let user = try DaemonProcess()
            #expect(try user.client("latchkey", ["add-generic-password", "-s", "a", "-a", "b", "-w", "x"]).status == 0)
            // A daemon that a command has started. It ends by itself, but not while a keychain is unlocked.
            let onDemand = try startedDaemon()
            defer { kill(onDemand, SIGTERM) }
            let system = try DaemonProcess(
                [
                    "--system", "--socket", "\(directory.path)/socket", "--state-directory", "\(directory.path)/state",
                    "--subuid", "\(directory.path)/subuid",
                ])
            // The daemon creates a keychain as a draft and closes the draft; it closes the keychain when it deletes it.
            for words in [["create-keychain", "-p", "pw", "build.keychain"], ["delete-keychain", "build.keychain"]] {
                let outcome = try Executable.run(
                    "latchkey", words, home: "",
                    environment: [
                        "HOME": directory.path, "LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/socket",
                        "XDG_RUNTIME_DIR": "\(directory.path)/none",
                    ])
                #expect(outcome.status == 0, "\(outcome)")
            }
            let agent = try SpawnedProcess(
                [Executable.path("latchkey"), "agent"],
                environment: ["LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/socket", "PATH": "/usr/bin:/bin"],
                output: "\(directory.path)/agent")
            let session = try SpawnedProcess(
                [Executable.path("latchkey"), "with-passcode", "--", "/bin/sleep", "3600"],
                environment: ["LATCHKEY_HOME": "\(directory.path)/home", "PATH": "/usr/bin:/bin"],
                output: "\(directory.path)/session")
            #expect(eventually { !ProcessTable.children(of: session.processIdentifier).isEmpty || !session.isRunning })
            // Without its parent, the command would sleep on.
            defer { for child in ProcessTable.children(of: session.processIdentifier) { kill(child, SIGTERM) } }
            let processes = [
                "latchkeyd --user": user.process, "latchkeyd --system": system.process, "latchkey agent": agent,
                "latchkey with-passcode": session,
            ].mapValues(\.processIdentifier).merging(["latchkeyd --on-demand": onDemand]) { $1 }
            try Rest.requireSleep(processes, in: directory)
            #expect(agent.isRunning && session.isRunning && ProcessTable.isRunning(onDemand))
        }

        private func startedDaemon() throws -> pid_t {
            let home = "\(directory.path)/own"
            try FileManager.default.createDirectory(
                atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let environment = [
                "HOME": home, "LATCHKEY_HOME": "", "LATCHKEY_NO_DAEMON": "",
                "LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/none",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory.path)/none",
            ]
            func run(_ words: String...) throws -> Executable.Outcome {
                try Executable.run("latchkey", words, home: "", environment: environment)
            }
            #expect(try run("create-keychain", "-p", "pw", "build.keychain").status == 0)
            let status = try run("status", "--json").output
            return try #require(status.firstMatch(of: #/"pid" : (\d+)/#).flatMap { pid_t($0.1) })
        }
    }
}
