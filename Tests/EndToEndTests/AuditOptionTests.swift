// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import Testing

extension DaemonProofs {
    /// The options for the audit log.
    @Suite("Options of the audit log")
    struct AuditOptionTests {
        @Test(
            "An invalid size or age is rejected with the option's name, and no daemon starts",
            arguments: [
                ["--audit-size", "0"], ["--audit-size", "x"], ["--audit-age", "36501"], ["--audit-size", "65537"],
            ])
        func refused(_ words: [String]) throws {
            let home = try TemporaryDirectory()
            let outcome = try Executable.run("latchkeyd", ["--user"] + words, home: "\(home.path)/home")
            #expect(outcome.status == 64 && outcome.error.contains(words[0]), "\(outcome)")
            #expect(access("\(home.path)/home", F_OK) != 0)
        }

        @Test("Repeated failing lookups of one program take few lines, and log verify finds the log intact")
        func fewLines() throws {
            let daemon = try DaemonProcess(["--user", "--audit-size", "1", "--audit-age", "1"])
            for _ in 0..<5 {
                #expect(try daemon.client("ProofWorker", ["item", "find", "missing", "-"]).output == "-25300\n")
            }
            daemon.stop()
            try daemon.start()
            let lines = try daemon.client("latchkey", ["log"]).output.split(separator: "\n")
            let refusals = lines.filter { $0.contains("\"operation\":\"copy\"") }
            #expect(refusals.count == 2 && refusals.last?.contains("\"repeated\":") == true, "\(lines)")
            #expect(try daemon.client("latchkey", ["log", "verify"]).output.hasPrefix("intact"))
        }
    }
}
