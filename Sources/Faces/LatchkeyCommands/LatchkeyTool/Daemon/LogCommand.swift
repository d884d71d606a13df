// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey log`.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.log.rawValue, abstract: LatchkeySubcommand.log.abstract,
        discussion: """
            latchkeyd writes one line of JSON for each decision: the time, the caller, the operation, the number of \
            items with their class and access group, and the result. A line never contains a secret, nor any attribute \
            of an item except its access group.

            The first refusal of a kind has its own line; repetitions by the same program are counted in another one \
            ("repeated"). If lines were removed, another line records their numbers, the time and the reason: a "gap" \
            in their place, or a later "rotate".

            EXAMPLES:
              latchkey log --since 1h
              latchkey log --follow | jq 'select(.status != 0)'
              latchkey log verify
            """,
        subcommands: [Show.self, Verify.self], defaultSubcommand: Show.self)

    /// `latchkey log show`.
    struct Show: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print the lines of the log.",
            discussion: """
                EXAMPLES:
                  latchkey log --since 2026-11-21
                  latchkey log --since 30m --follow
                """)

        @Flag(name: .shortAndLong, help: "Continue with new lines, until Ctrl-C.")
        var follow = false

        @Option(
            help: ArgumentHelp(
                "Only lines of the last 30s, 10m, 2h or 7d, or since a UTC date: 2026-11-21 or 2026-11-21T12:00:00.",
                valueName: "time"))
        var since: LogTime?

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            var after: UInt64 = 0
            let start = since?.seconds(now: WallClock.now.rounded(.down))
            var isFirst = since == nil
            repeat {
                var problem: CommandFailure?
                let seen = after
                after = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                    try keychain.auditLines(after: seen, since: start) { lines in
                        if isFirst, let first = lines.first {
                            isFirst = false
                            if let note = Self.note(first) { session.io.say(note) }
                        }
                        do throws(CommandFailure) {
                            if !lines.isEmpty {
                                try session.write(lines.map { TerminalText(json: $0) }.joined(separator: "\n") + "\n")
                            }
                        } catch {
                            problem = error
                        }
                        return problem == nil
                    }
                }
                if let problem { throw problem }
                if follow { usleep(Self.pause) }
            } while follow
        }

        /// Returns a note if the log does not begin with line 1.
        private static func note(_ first: String) -> TerminalText? {
            let digits = first.dropFirst(#"{"sequence":"#.count).prefix { $0.isNumber }
            guard first.hasPrefix(#"{"sequence":"#), let number = UInt64(digits), number > 1 else { return nil }
            return
                "latchkey: the log begins with line \(number); latchkey log verify shows when lines were removed\n"
        }

        /// A quarter of a second, in microseconds.
        private static let pause: UInt32 = 250_000
    }

    /// `latchkey log verify`.
    struct Verify: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Verify that no line was changed and none is missing.",
            discussion: """
                Exits with 1 if a line was changed, removed or moved, or if lines were cut from the end. Lines that \
                latchkeyd itself removed, because of their age or because the log was full, are listed.

                EXAMPLES:
                  latchkey log verify
                  latchkey log verify --json
                """)

        @Flag(help: "Print JSON.")
        var json = false

        func run(in session: CommandSession) throws(CommandFailure) {
            let keychain = try session.keychain()
            let verdict = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                AuditVerificationReport(try keychain.verifyAudit())
            }
            try session.write(json ? try JSONText.of(verdict) : verdict.text)
            guard verdict.intact else { throw .reported(1) }
        }
    }
}
