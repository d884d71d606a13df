// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import TPMTesting
import Testing

/// Moves of the device key that are killed.
@Suite("A killed move of the device key", .enabled(if: SoftwareTPM.isInstalled))
struct RootCrashTests {
    @Test("A move that is killed at any time leaves a keychain that opens, with its items and passcode", .long)
    func kills() throws {
        let tpm = try SoftwareTPM()
        let home = try TemporaryDirectory()
        let passcode = "\(home.path)/passcode"
        try "correct horse battery\n".write(toFile: passcode, atomically: false, encoding: .utf8)
        chmod(passcode, 0o600)
        let environment = ["LATCHKEY_TPM": tpm.addressText]
        func run(_ arguments: [String]) throws -> Executable.Outcome {
            try Executable.run("latchkey", arguments, home: home.path, environment: environment)
        }
        #expect(try run(["passcode", "set", "--passcode-file", passcode]).status == 0)
        let command = "\(home.path)/security"
        #expect(symlink(Executable.path("latchkey"), command) == 0)
        func security(_ arguments: [String]) throws -> Executable.Outcome {
            try Executable.run(
                command, arguments, home: home.path,
                environment: environment.merging(["LATCHKEY_PASSCODE_FILE": passcode]) { $1 })
        }
        let added = try security(["add-generic-password", "-s", "s", "-a", "a", "-w", "the secret"])
        #expect(added.status == 0, "\(added.error)")
        var killed = 0
        var random = SystemRandomNumberGenerator()
        for round in 0..<24 {
            let process = Executable.process(
                "latchkey", ["root", round.isMultiple(of: 2) ? "tpm" : "file", "--passcode-file", passcode],
                home: home.path, environment: environment)
            try process.start()
            // Derivation of the passcode takes most of the time; the kills are spread over all of it.
            usleep(UInt32.random(in: 0...700_000, using: &random))
            if process.isRunning {
                kill(process.processIdentifier, SIGKILL)
                killed += 1
            }
            process.awaitExit()
            let shown = try run(["root", "show", "--json"])
            #expect(shown.status == 0, "round \(round): \(shown.error)")
            let read = try security(["find-generic-password", "-s", "s", "-w"])
            #expect(read.output == "the secret\n", "round \(round): \(read.error)")
        }
        #expect(killed > 0)
        // After the kills, the device key can still be moved.
        for root in ["tpm", "file", "tpm"] {
            let moved = try run(["root", root, "--passcode-file", passcode])
            #expect(moved.status == 0, "\(moved.error)")
            #expect(try run(["root", "show", "--json"]).output.contains("\"\(root)\""))
        }
        #expect(try security(["find-generic-password", "-s", "s", "-w"]).output == "the secret\n")
    }
}
