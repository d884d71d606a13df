// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

/// Untrusted text that is written to a terminal.
@Suite("Printable text")
struct PrintableTextTests {
    @Test(
        "control characters and invisible characters become visible escapes",
        arguments: [
            ("plain text, 'quoted' \\ and {braced}", "plain text, 'quoted' \\ and {braced}"), ("", ""),
            ("a\nb", "a\\nb"), ("a\r\nb", "a\\r\\nb"), ("a\tb", "a\\tb"), ("\u{1B}[2J", "\\x1b[2J"),
            ("\u{0}\u{7}\u{8}", "\\x00\\x07\\x08"),
            ("\u{7F}", "\\x7f"), ("\u{9B}31m", "\\x9b31m"), ("\u{85}", "\\x85"),
            ("\u{202E}moc.elpmaxe\u{202C}", "\\u{202e}moc.elpmaxe\\u{202c}"),
            ("\u{2066}\u{2069}\u{200E}", "\\u{2066}\\u{2069}\\u{200e}"),
            ("\u{61C}", "\\u{61c}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("a\u{200B}b", "a\\u{200b}b"),
            ("\u{FEFF}", "\\u{feff}"),
            ("\u{AD}", "\\xad"), ("\u{3164}", "\\u{3164}"), ("\u{E0041}", "\\u{e0041}"), ("\u{E000}", "\\u{e000}"),
            ("\u{378}", "\\u{378}"),
        ])
    func escapes(text: String, printable: String) {
        #expect(PrintableText(text).string == printable)
        #expect("\(PrintableText(text))" == printable)
    }

    @Test(
        "text of every language is unchanged",
        arguments: [
            "Zürich", "Z\u{75}\u{308}rich", "東京", "القاهرة", "ירושלים", "नई दिल्ली", "Ἀθῆναι", "❤️", "a\u{A0}b", "€ ½",
        ])
    func languages(text: String) {
        #expect(PrintableText(text).string == text)
    }

    @Test("a long text is truncated, with the number of missing characters", arguments: ["x", "ü", "\n"])
    func cut(character: Character) {
        let text = String(repeating: character, count: 1030)
        let shown = String(repeating: character == "\n" ? "\\n" : String(character), count: 1024)
        #expect(PrintableText(text).string == shown + "… (6 more characters)")
        #expect(PrintableText(text.dropLast(6)).string == shown)
        #expect(PrintableText("abcdef", maxLength: 2).string == "ab… (4 more characters)")
        #expect(PrintableText(String(repeating: "y", count: 5000), maxLength: nil).string.count == 5000)
        // A character with many combining marks counts as many scalars.
        #expect(
            PrintableText("a" + String(repeating: "\u{301}", count: 3000)).string.hasSuffix("… (1977 more characters)"))
    }

    @Test("text of several lines keeps only line feeds and tabs unescaped")
    func lines() {
        #expect(PrintableText("a\n\tb\u{1B}\r", lines: .kept).string == "a\n\tb\\x1b\\r")
        #expect(TerminalText(lines: "usage:\n\tä\u{202E}\n").string == "usage:\n\tä\\u{202e}\n")
    }

    @Test("a literal is written unchanged, and each interpolated value becomes one line")
    func interpolation() {
        let name = "CN=x\n...certificate verification successful.\n\u{1B}[8m"
        let text: TerminalText = "subject: \(name)\tend\n"
        #expect(text.string == "subject: CN=x\\n...certificate verification successful.\\n\\x1b[8m\tend\n")
        let numbers: TerminalText = "\(1) \(UInt8(2)) \(name.prefix(1)) \(2.5)"
        #expect(numbers.string == "1 2 C 2.5")
        let nested: TerminalText = "\r\(text)\("\n" as TerminalText)"
        #expect(nested.string == "\r" + text.string + "\n")
        #expect([text, "b", TerminalText()].joined(separator: ", ") == text + ", b, ")
        #expect(TerminalText.spaces(3).string == "   " && TerminalText.spaces(-1).string == "")
    }

    @Test("JSON keeps its meaning: characters that are not printable become JSON escapes")
    func json() {
        #expect(
            TerminalText(json: "{\n  \"a\" : \"ä\u{9B}\u{202E}\u{E0041}\u{7F}\"\n}\n").string
                == "{\n  \"a\" : \"ä\\u009b\\u202e\\udb40\\udc41\\u007f\"\n}\n")
    }
}
