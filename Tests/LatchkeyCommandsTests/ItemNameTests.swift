// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import LatchkeyCommands
import Testing

/// The names of items on the command line.
@Suite("Names of items")
struct ItemNameTests {
    @Test(
        "a name has a service and an account, and a percent sign with two digits is one byte",
        arguments: [
            ("example.com/alice", "example.com", "alice"), ("example.com", "example.com", nil),
            ("https:%2F%2Fexample.com/alice", "https://example.com", "alice"), ("100%25/a%20b", "100%", "a b"),
            ("a b/ c ", "a b", " c "), ("%2d-x/y", "--x", "y"), ("größe/Ä", "größe", "Ä"),
            ("a/\u{301}b", "a", "\u{301}b"),
        ] as [(String, String, String?)])
    func parses(text: String, service: String, account: String?) throws {
        let name = try ItemName(parsing: text)
        #expect(name == ItemName(service: Array(service.utf8), account: account.map { Array($0.utf8) }))
    }

    @Test(
        "an empty part, a second slash and an incomplete percent encoding are refused with a hint",
        arguments: [
            ("", "the service in the name '' is empty"), ("/alice", "the service in the name '/alice' is empty"),
            ("example.com/", "the account in the name 'example.com/' is empty"), ("/", "the service in the name '/'"),
            ("a/b/c", "the name 'a/b/c' has 2 slashes"), ("https://example.com/alice", "has 3 slashes"),
            ("100%/a", "a % in the name '100%/a'"), ("a/%", "a % in the name"), ("a/%2", "a % in the name"),
            ("a/%zz", "a % in the name"), ("%+1/a", "a % in the name"),
        ])
    func refuses(text: String, problem: String) throws {
        do {
            let name = try ItemName(parsing: text)
            Issue.record("parsed as \(name)")
        } catch CommandFailure.status(let error, _) {
            #expect(error.status == .param && error.problem.contains(problem), "\(error.problem)")
            #expect(error.hint?.isEmpty == false)
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
            ("a*\u{301}/?", "ab\u{301}", "x", true),
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
}
