// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

extension DaemonProofs {
    /// What daemons and their clients cost while nothing happens.
    @Suite("Idle processes")
    struct IdleTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        @Test("Idle daemons sleep: without a bus, with an unlocked keychain, and with an agent that waits")
        func daemons() throws {
            let user = try DaemonProcess()
            #expect(try user.client("latchkey", ["add-generic-password", "-s", "a", "-w", "x"]).status == 0)
            // One that ends by itself, but not while a keychain is unlocked.
            let onDemand = try DaemonProcess(["--user", "--on-demand", "--idle-time", "1"])
            #expect(try onDemand.client("latchkey", ["create-keychain", "-p", "pw", "a.keychain"]).status == 0)
            let system = try DaemonProcess(
                [
                    "--system", "--socket", "\(directory.path)/socket", "--state-directory", "\(directory.path)/state",
                    "--subuid", "\(directory.path)/subuid",
                ])
            let agent = try SpawnedProcess(
                [Executable.path("latchkey"), "agent"],
                environment: ["LATCHKEY_SYSTEM_SOCKET": "\(directory.path)/socket", "PATH": "/usr/bin:/bin"],
                output: "\(directory.path)/agent")
            let session = try SpawnedProcess(
                [Executable.path("latchkey"), "with-passcode", "--", "/bin/sleep", "3600"],
                environment: ["LATCHKEY_HOME": "\(directory.path)/home", "PATH": "/usr/bin:/bin"],
                output: "\(directory.path)/session")
            #expect(eventually { !ProcessTable.children(of: session.processIdentifier).isEmpty || !session.isRunning })
            let processes = [
                "latchkeyd --user": user.process, "latchkeyd --on-demand": onDemand.process,
                "latchkeyd --system": system.process, "latchkey agent": agent, "latchkey with-passcode": session,
            ].mapValues(\.processIdentifier)
            #expect(try Rest.restless(processes, in: directory) == nil)
            #expect(agent.isRunning && session.isRunning && onDemand.process.isRunning)
            // It notices the lock at once, although it slept.
            #expect(try onDemand.client("latchkey", ["lock-keychain", "a.keychain"]).status == 0)
            #expect(eventually { !onDemand.process.isRunning })
        }
    }
}
