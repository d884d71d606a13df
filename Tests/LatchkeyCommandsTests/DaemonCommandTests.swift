// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `latchkey who`, `latchkey log` and `latchkey with-passcode`, as far as they need no daemon.
@Suite("Commands for the daemon")
struct DaemonCommandTests {
    @Test("who tells each fact with its grade and its source, the groups, and why")
    func who() throws {
        try expectGolden(security("who", as: "latchkey", on: DamagedService()).description, "who")
        try expectGolden(security("who --json", as: "latchkey", on: DamagedService()).description, "who-json")
    }

    @Test("log prints the lines as they are; log verify exits with 1 where one is wrong")
    func log() throws {
        try expectGolden(security("log", as: "latchkey", on: DamagedService()).description, "log")
        try expectGolden(security("log verify", as: "latchkey", on: DamagedService()).description, "log-verify")
        try expectGolden(security("log verify --json", as: "latchkey", on: DamagedService()).description, "log-verify-json")
    }

    @Test("Without a daemon there is no log, and the command says where to get one", arguments: ["log", "log verify"])
    func noLog(line: String) throws {
        let outcome = try TestKeychain(.ephemeral).latchkey(line)
        #expect(outcome.exit == Int32(OSStatusCode.notAvailable.exitCode))
        #expect(outcome.error.contains("keeps no audit log") && outcome.error.contains("hint: latchkeyd keeps one"), "\(outcome)")
    }

    @Test("with-passcode wants a command")
    func noCommand() throws {
        let outcome = try TestKeychain(.ephemeral).latchkey("with-passcode")
        #expect(outcome.exit == 2 && outcome.error.contains("with-passcode -- COMMAND"), "\(outcome)")
    }

    @Test(
        "Times are a while ago or a date in UTC",
        arguments: [
            ("30s", LogTime.ago(30)), ("10m", .ago(600)), ("2h", .ago(7200)), ("7d", .ago(604_800)), ("1970-01-02", .date(86400)),
            ("2026-11-21T12:00", .date(1_795_262_400)), ("2026-11-21T12:00:01", .date(1_795_262_401)), ("", nil), ("h", nil), ("-1h", nil),
            ("1w", nil), ("2026-13-01", nil), ("2026-11-21T", nil), ("2026-11-21T25:00", nil), ("2026-11-21T12:00:00:00", nil),
            ("yesterday", nil),
        ] as [(String, LogTime?)])
    func times(_ text: String, _ expected: LogTime?) {
        #expect(LogTime(argument: text) == expected)
    }
}
