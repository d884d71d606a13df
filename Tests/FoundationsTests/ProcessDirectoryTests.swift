// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Address spaces", .enabled(if: access("/proc/self/pagemap", F_OK) == 0, "needs /proc/PID/pagemap"))
struct AddressSpaceTests {
    /// A shell that waits for ``flag``, with children that come and go, and then executes a program.
    private final class Shell {
        let directory: TemporaryDirectory
        let process: SpawnedProcess
        let processDirectory: OpenProcessDirectory
        private var flag: String { "\(directory.path)/flag" }

        init(thenExecutes program: String) throws {
            directory = try TemporaryDirectory()
            process = try SpawnedProcess(
                [
                    "/bin/sh", "-c",
                    "for i in $(seq 30000); do [ ! -e '\(directory.path)/flag' ] || exec \(program); sleep 0.01; done",
                ],
                environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/output")
            processDirectory = try #require(ProcessDirectory(process.processIdentifier).open())
        }

        func executeProgram() throws {
            #expect(FileManager.default.createFile(atPath: flag, contents: nil))
        }
    }

    @Test(
        "An address space is in use until its process executes a program, also the same one again",
        arguments: [("/bin/sleep 600", false), ("/bin/sh -c 'while :; do sleep 1; done'", true)])
    func execution(_ program: String, _ isSame: Bool) throws {
        let shell = try Shell(thenExecutes: program)
        let space = try #require(shell.processDirectory.addressSpace)
        let file = shell.processDirectory.executable
        for _ in 0..<1_000 where !space.isInUse { Issue.record("ended without an execution") }
        try shell.executeProgram()
        #expect(eventually { !space.isInUse })
        #expect(shell.process.isRunning)
        #expect((shell.processDirectory.executable == file) == isSame)
        #expect(shell.processDirectory.addressSpace?.isInUse == true)
        withExtendedLifetime(shell) {}
    }

    @Test("The address space of a process that has ended is not in use, and it gets no other")
    func end() throws {
        let shell = try Shell(thenExecutes: "/bin/true")
        let space = try #require(shell.processDirectory.addressSpace)
        shell.process.stop(signal: SIGKILL)
        // A program that reads its files in /proc, such as ps, keeps the address space for a moment.
        #expect(eventually { !space.isInUse })
        #expect(shell.processDirectory.addressSpace?.isInUse != true)
        #expect(shell.processDirectory.executable == .ended)
    }
}
