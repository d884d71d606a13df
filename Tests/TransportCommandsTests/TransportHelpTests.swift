// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The help texts of `latchkey-tls`. Golden files contain the wording.
@Suite("Help of latchkey-tls")
struct TransportHelpTests {
    @Test(
        "Each command has a help text with examples",
        arguments: [
            ["tls", "check"], ["pin", "add"], ["pin", "list"], ["pin", "remove"], ["pin", "report"],
            ["ats", "diagnostics"],
        ])
    func command(_ words: [String]) async throws {
        let help = try await onThread {
            try Executable.run("latchkey-tls", words + ["--help"], home: "/nonexistent", environment: ["COLUMNS": "80"])
        }
        #expect(help.status == 0 && help.error.isEmpty && help.output.contains("EXAMPLES:"))
        #expect(HelpExamples(help.output).broken.isEmpty)
        try expectGolden(help.output, "help-\(words.joined(separator: "-"))")
    }

    /// As in LatchkeyCommandsTests: with `LATCHKEY_RECORD=1` the file is written, and the test fails.
    private func expectGolden(_ text: String, _ name: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).txt")
        guard ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] != "1" else {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded \(name).txt: read it, then run the tests without LATCHKEY_RECORD")
            return
        }
        #expect(text == (try? String(contentsOf: file, encoding: .utf8)), "\(name).txt differs")
    }
}
