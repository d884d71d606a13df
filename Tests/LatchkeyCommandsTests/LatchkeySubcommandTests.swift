// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyCommands
import Testing

/// `latchkey status` and `latchkey doctor`.
@Suite("Own commands")
struct LatchkeySubcommandTests {
    @Test("status shows where the keychain is, its protection and its content")
    func status() throws {
        try expectGolden(security("status", on: DamagedService()).description, "status")
        let keychain = try TestKeychain(.ephemeral)
        keychain.security("add-generic-password -a a -s s -w x")
        try expectGolden(keychain.latchkey("status").description, "status-ephemeral")
    }

    @Test("status prints JSON")
    func statusJSON() throws {
        try expectGolden(security("status --json", on: DamagedService()).description, "status-json")
    }

    @Test("doctor exits with 1 if something is wrong, and prints a hint")
    func doctor() throws {
        try expectGolden(security("doctor", on: DamagedService()).description, "doctor-wrong")
        try expectGolden(security("doctor --json", on: DamagedService()).description, "doctor-wrong-json")
        let unopened = FailingService(error: KeychainError(.notAvailable, "cannot open /x", hint: "chmod 700 /x"))
        try expectGolden(security("doctor", on: unopened).description, "doctor-unopened")
    }

    @Test("doctor shows its progress on a terminal if there are many items, and clears it at the end")
    func progress() {
        let outcome = security("doctor", on: DamagedService(), io: TestIO(isErrorInteractive: true))
        #expect(outcome.error == "\r10000 items checked\r11000 items checked\r\u{1B}[K")
    }

    @Test("doctor finds nothing wrong with a new keychain")
    func healthy() throws {
        let keychain = try TestKeychain(.onDisk)
        keychain.security("add-generic-password -a a -s s -w x")
        let outcome = keychain.latchkey("doctor")
        #expect(outcome.exit == 0 && outcome.error.isEmpty)
        // A missing backup is reported, but is not an error.
        let lines = outcome.output.split(separator: "\n").filter {
            !$0.hasPrefix("         hint: latchkey backup FILE")
        }
        #expect(lines.allSatisfy { $0.hasPrefix("ok ") })
        #expect(lines.contains { $0.hasSuffix("recovery options: no backup was made, there is no recovery key") })
        let report = Data(keychain.latchkey("doctor --json").output.utf8)
        let json = try #require(try JSONSerialization.jsonObject(with: report) as? [String: Any])
        #expect(json["healthy"] as? Bool == true)
    }

    @Test(
        "unknown words after Latchkey's commands are reported in one line with a hint",
        arguments: [("status --foo", "status "), ("who extra", "who "), ("--nothing", "")])
    func badWords(line: String, command: String) throws {
        let outcome = try TestKeychain(.ephemeral).latchkey(line)
        #expect(outcome.exit == 2 && outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("latchkey: ") && outcome.error.hasSuffix("\nhint: latchkey \(command)--help\n"))
    }

    @Test("a keychain that cannot be opened is reported with its hint")
    func unopened() {
        let service = FailingService(error: KeychainError(.notAvailable, "cannot open /x", hint: "chmod 700 /x"))
        #expect(
            security("status", on: service)
                == Outcome(exit: 53, output: "", error: "latchkey: cannot open /x\nhint: chmod 700 /x\n"))
    }
}
