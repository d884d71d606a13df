// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

/// Text of reports and of the debug log.
@Suite("Diagnostic text")
struct DiagnosticTextTests {
    @Test("It has literals, numbers and flags; of any other value, only its kind")
    func interpolation() {
        let path = "/home/alice"
        let inner: DiagnosticText = "of \(2)"
        let text: DiagnosticText = "\(1) \(inner) \(true) \(false) \(redacted: path) \(type: DiagnosticTextTests.self)"
        #expect(text.string == "1 of 2 yes no <redacted String> DiagnosticTextTests")
        let words: [DiagnosticText] = ["a", "b"]
        #expect(words.joined(separator: ", ").string == "a, b")
        #expect(words.joined().string == "ab")
    }

    @Test(
        "Of a version, digits and dots remain",
        arguments: [
            ("6.1.0-alice", "6.1.0"), ("12", "12"), ("2.36", "2.36"), ("alice", nil), ("", nil), (".1", nil),
            ("１2", nil),
        ] as [(String, String?)])
    func versions(_ text: String, _ version: String?) {
        #expect(DiagnosticText(version: text)?.string == version)
    }

    @Test("Of a text, one of the given words remains, or nothing")
    func words() {
        #expect(DiagnosticText("gnome", of: ["kde", "gnome"])?.string == "gnome")
        #expect(DiagnosticText("alice", of: ["kde", "gnome"]) == nil)
    }
}
