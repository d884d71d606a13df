// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `latchkey who`, `latchkey log` and `latchkey with-passcode` without a daemon.
@Suite("Commands for the daemon")
struct DaemonCommandTests {
    @Test("who shows each fact with its grade and source, the access groups, and the reason")
    func callerReport() throws {
        try expectGolden(security("who", as: "latchkey", on: DamagedService()).description, "who")
        try expectGolden(security("who --json", as: "latchkey", on: DamagedService()).description, "who-json")
    }

    @Test("log prints the lines unchanged; log verify exits with 1 if one is wrong")
    func log() throws {
        try expectGolden(security("log", as: "latchkey", on: DamagedService()).description, "log")
        try expectGolden(security("log verify", as: "latchkey", on: DamagedService()).description, "log-verify")
        try expectGolden(
            security("log verify --json", as: "latchkey", on: DamagedService()).description, "log-verify-json")
    }

    @Test("log verify lists removed lines with time and reason; log shows where the log begins")
    func removals() throws {
        let verdict = AuditVerification(
            isIntact: true, lines: 3, detail: "every line is intact, up to line 90",
            removals: [
                AuditRemoval(.age, first: 1, last: 40, lines: 40, since: 0, until: 86400, removed: 1_795_348_800),
                AuditRemoval(.refusals, first: 41, last: 80, lines: 30, since: 1, until: 2, removed: 3),
                AuditRemoval(.size, first: 81, last: 81, lines: 1),
                AuditRemoval(.unknown, first: 1, last: 82, lines: 82),
            ])
        #expect(
            String(describing: AuditVerificationReport(verdict).text) == """
                intact: every line is intact, up to line 90 (3 lines verified)
                removed: lines 1 to 40 (1970-01-01 00:00:00 UTC to 1970-01-02 00:00:00 UTC) on \
                2026-11-22 12:00:00 UTC, because of their age
                removed: 30 refusals between lines 41 and 80 (1970-01-01 00:00:01 UTC to 1970-01-01 00:00:02 UTC) on \
                1970-01-01 00:00:03 UTC, early, because the log was full; refusals are removed first
                removed: line 81, early, because the log was full
                removed: lines 1 to 82, for a reason that was not recorded, because latchkeyd was killed

                """)
        let service = DamagedService(logLines: [#"{"sequence":41,"operation":"add"}"#])
        #expect(security("log", as: "latchkey", on: service).error.contains("the log begins with line 41"))
        #expect(security("log --since 1h", as: "latchkey", on: service).error.isEmpty)
        #expect(security("log", as: "latchkey", on: DamagedService()).error.isEmpty)
    }

    @Test("status shows the number of wrong passcodes, when the delay began, and their programs")
    func wrongPasscodes() throws {
        var lock = LockStatus(
            state: .locked, hasPasscode: true, hasRecoveryKey: true, settings: KeybagSettings(), open: [],
            wrongPasscodes: 5, delay: 60,
            delayBegan: 1_795_348_800)
        let unknown = try #require(WrongPasscodesReport(lock))
        #expect(
            unknown.rows.map(\.value) == [
                """
                5 wrong passcodes since the last correct one; the delay began 2026-11-22 12:00:00 UTC, \
                and does not apply to a recovery key
                """,
                "by unknown programs: only latchkeyd's log records them",
            ])
        lock.guesses = [
            PasscodeGuess(program: "/tmp/\u{1B}[2Jx", user: 1000, process: 77, count: 9, first: 0, last: 1_795_348_800)
        ]
        let known = try #require(WrongPasscodesReport(lock))
        #expect(known.rows.last?.value == "9 by /tmp/\u{1B}[2Jx (user 1000, process 77), last 2026-11-22 12:00:00 UTC")
        let guessed = lock
        lock.wrongPasscodes = 0
        #expect(WrongPasscodesReport(lock) == nil)
        // The text on the terminal is printable.
        let outcome = security("status", as: "latchkey", on: DamagedService(lock: guessed))
        #expect(
            outcome.output.contains("wrong:") && !outcome.output.contains("\u{1B}")
                && outcome.output.contains(#"/tmp/\x1b[2Jx"#))
    }

    @Test("without a daemon there is no log, and the hint names latchkeyd", arguments: ["log", "log verify"])
    func noLog(line: String) throws {
        let outcome = try TestKeychain(.ephemeral).latchkey(line)
        #expect(outcome.exit == Int32(OSStatusCode.notAvailable.exitCode))
        #expect(
            outcome.error.contains("no audit log is kept") && outcome.error.contains("hint: latchkeyd keeps one"),
            "\(outcome)")
    }

    @Test("with-passcode requires a command")
    func noCommand() throws {
        let outcome = try TestKeychain(.ephemeral).latchkey("with-passcode")
        #expect(outcome.exit == 2 && outcome.error.contains("with-passcode -- COMMAND"), "\(outcome)")
    }

    @Test(
        "a time is a duration before now or a date in UTC",
        arguments: [
            ("30s", LogTime.ago(30)), ("10m", .ago(600)), ("2h", .ago(7200)), ("7d", .ago(604_800)),
            ("1970-01-02", .date(86400)),
            ("2026-11-21T12:00", .date(1_795_262_400)), ("2026-11-21T12:00:01", .date(1_795_262_401)), ("", nil),
            ("h", nil), ("-1h", nil),
            ("1w", nil), ("2026-13-01", nil), ("2026-11-21T", nil), ("2026-11-21T25:00", nil),
            ("2026-11-21T12:00:00:00", nil),
            ("yesterday", nil),
        ] as [(String, LogTime?)])
    func times(_ text: String, _ expected: LogTime?) {
        #expect(LogTime(argument: text) == expected)
    }
}
