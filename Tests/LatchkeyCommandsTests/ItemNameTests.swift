// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LinuxSystem
import Testing

/// The names of items on the command line.
@Suite("Names of items")
struct ItemNameTests {
    @Test(
        "a name has a service and, after the last slash, an account; a percent sign with two digits is one byte",
        arguments: [
            ("example.com/alice", "example.com", "alice"), ("example.com", "example.com", nil),
            ("https:%2F%2Fexample.com/alice", "https://example.com", "alice"), ("100%25/a%20b", "100%", "a b"),
            ("a b/ c ", "a b", " c "), ("%2d-x/y", "--x", "y"), ("größe/Ä", "größe", "Ä"),
            ("a/\u{301}b", "a", "\u{301}b"), ("a/b/c", "a/b", "c"), ("a/", "a", ""), ("/alice", "", "alice"),
            ("/", "", ""),
            ("https://example.com", "https://example.com", nil),
            ("https://example.com/alice", "https://example.com", "alice"),
            ("https://index.docker.io/v1//alice", "https://index.docker.io/v1/", "alice"), ("://a", ":/", "a"),
            ("x-1+y.z://a", "x-1+y.z://a", nil), ("1x://a", "1x:/", "a"), ("a b://c", "a b:/", "c"),
        ] as [(String, String, String?)])
    func parses(text: String, service: String, account: String?) throws {
        let name = try ItemName(parsing: text)
        #expect(name == ItemName(service: Array(service.utf8), account: account.map { Array($0.utf8) }))
    }

    @Test(
        "an empty name and an incomplete percent encoding are refused with a hint; of a new item, also an empty part",
        arguments: [
            ("", "the service in the name '' is empty", true),
            ("100%/a", "a % in the name '100%/a'", true), ("a/%", "a % in the name", true),
            ("a/%2", "a % in the name", true), ("a/%zz", "a % in the name", true), ("%+1/a", "a % in the name", true),
            ("/alice", "the service in the name '/alice' is empty", false),
            ("example.com/", "the account in the name 'example.com/' is empty", false),
            ("/", "the service in the name '/'", false),
        ])
    func refuses(text: String, problem: String, isAlways: Bool) throws {
        func expectRefusal(_ body: () throws(CommandFailure) -> ItemName) throws {
            do {
                let name = try body()
                Issue.record("parsed as \(name)")
            } catch CommandFailure.status(let error, _) {
                #expect(error.status == .param && error.problem.contains(problem), "\(error.problem)")
                #expect(error.hint?.isEmpty == false)
            }
        }
        try expectRefusal { () throws(CommandFailure) in try ItemName(ofNewItem: text) }
        if isAlways {
            try expectRefusal { () throws(CommandFailure) in try ItemName(parsing: text) }
        } else {
            _ = try ItemName(parsing: text)
        }
    }

    @Test("only ambiguous characters are escaped; an account that is empty is left out where it can be")
    func readable() {
        for (service, account, text) in [
            ("https://index.docker.io/v1/", "alice", "https://index.docker.io/v1//alice"),
            ("https://example.com", "alice", "https://example.com/alice"), ("a/b", "c/d", "a/b/c%2Fd"),
            ("Chrome Safe Storage", "", "Chrome Safe Storage"), ("https://example.com", "", "https://example.com"),
            ("Network secret for x/802-1x/password", "", "Network secret for x/802-1x/password/"),
            ("https:/", "x", "https:%2F/x"), ("", "alice", "/alice"), ("", "", "/"), ("-a", "-b", "%2Da/-b"),
        ] {
            #expect(ItemName(service: Array(service.utf8), account: Array(account.utf8)).text == text)
        }
    }

    @Test("the exact text of every name is parsed as this name, and its short one as the name or its service")
    func everyName() throws {
        let pieces = [
            "/", "://", "https://", "a", "-", "%", "%2F", " ", "\u{301}", "\n", "\u{202E}", "*", "?", "\u{0}", "ö", "'",
            ":",
        ]
        var random = SystemRandomNumberGenerator()
        func part() -> [UInt8] {
            var bytes = (0..<Int.random(in: 0...5, using: &random)).flatMap { _ in
                Array((pieces.randomElement(using: &random) ?? "").utf8)
            }
            if Int.random(in: 0..<20, using: &random) == 0 { bytes.append(.random(in: 0x80...0xFF, using: &random)) }
            return bytes
        }
        for _ in 0..<20_000 {
            let name = ItemName(service: part(), account: Bool.random(using: &random) ? part() : nil)
            guard !name.service.isEmpty || name.account != nil else { continue }
            #expect(try ItemName(parsing: name.exactText) == name, "\(name.exactText)")
            let short = try ItemName(parsing: name.text)
            let ofService = ItemName(service: name.service, account: nil)
            #expect(short == name || name.account == [] && short == ofService, "\(name.text)")
        }
    }

    @Test(
        "the text of every name without empty parts is parsed as the same name, and contains no control characters",
        arguments: [
            "example.com", "a/b", "100%", "%2F", "a\n\u{1B}[2J\u{202E}b", "--force", "\u{0}", " ", "größe", "*?",
            "-\u{301}",
            "\u{FE0F}",
        ])
    func roundTrip(part: String) throws {
        for bytes in [Array(part.utf8), Array(part.utf8) + [0xFF, 0xC3]] {
            for account in [nil, Array("x".utf8), bytes] {
                let name = ItemName(service: bytes, account: account)
                #expect(try ItemName(parsing: name.text) == name, "\(name.text)")
                #expect(!name.text.hasPrefix("-"))
                let controls: Set<Unicode.GeneralCategory> = [.control, .format]
                #expect(name.text.unicodeScalars.allSatisfy { !controls.contains($0.properties.generalCategory) })
            }
        }
    }

    @Test(
        "in a pattern, * stands for any text and ? for one character",
        arguments: [
            ("example.com", "example.com", "alice", true), ("example.com", "example.org", "alice", false),
            ("example.*", "example.org", "alice", true), ("*", "", "", true),
            ("*.com/a*", "example.com", "alice", true),
            ("*.com/a*", "example.com", "bob", false), ("?/?", "ö", "x", true), ("?", "öö", "x", false),
            ("a*b*c", "a-b-b-c", "", true), ("a*b*c", "a-b-b", "", false), ("%2A/x", "*", "x", true),
            ("%2A/x", "y", "x", false), ("a%3F*", "a?b", "x", true), ("a%3F*", "axb", "x", false),
            ("*%2F*", "https://x", "y", true), ("**", "x", "y", true), ("a/*", "a", "", true),
            ("a*\u{301}/?", "ab\u{301}", "x", true), ("https://*", "https://x/y", "z", true),
            ("https://x//*", "https://x/", "y", true), ("a/b/c", "a/b", "c", true), ("a/", "a", "", true),
            ("a/", "a", "b", false), ("/*", "", "x", true), ("/*", "a", "x", false),
        ])
    func patterns(pattern: String, service: String, account: String, matches: Bool) throws {
        let name = ItemName(service: Array(service.utf8), account: Array(account.utf8))
        #expect(try ItemPattern(parsing: pattern).matches(name) == matches)
    }

    @Test("a pattern of many wildcards is compared with a long name within a bounded number of steps")
    func manyWildcards() throws {
        let pattern = try ItemPattern(parsing: String(repeating: "a*", count: 200) + "b")
        let name = ItemName(service: Array(repeating: UInt8(ascii: "a"), count: 4000), account: [])
        #expect(!pattern.matches(name))
    }

    @Test("a word of a shell is quoted only where it must be, and is one word to the shell")
    func shellWords() throws {
        for text in ["a/b", "https://x//y%2F", "", "a b", "it's", "'\u{301}", "$(x)`y`\\", "a\nb", "*"] {
            let isPlain = text.hasPrefix("a/") || text.hasPrefix("https")
            #expect((text.shellQuoted == text) == isPlain)
            let shell = Process()
            let output = Pipe()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", "printf %s \(text.shellQuoted)"]
            shell.standardOutput = output
            try shell.start()
            #expect(shell.awaitExit() == 0)
            #expect(String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self) == text)
        }
    }
}
