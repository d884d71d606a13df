// SPDX-License-Identifier: Apache-2.0

import Testing

import Latchkey
@testable import LatchkeyPayloads

/// Structured fields (RFC 9651).
@Suite("Structured fields")
struct StructuredFieldTests {
    @Test(
        "A dictionary has one written form, for all white space and notations of numbers",
        arguments: [
            ("a=1,b", "a=1, b"), ("a=?1 , b=?0\t,c;x", "a, b=?0, c;x"), ("a=-12.50;p=tok/en:*", "a=-12.5;p=tok/en:*"),
            ("a=1.0", "a=1.0"), ("a=0.001", "a=0.001"), ("a=-0.5", "a=-0.5"), ("a=00012", "a=12"),
            (#"a="q\"\\""#, #"a="q\"\\""#), ("a=:AAEC:", "a=:AAEC:"), ("a=::", "a=::"), ("a=@-5", "a=@-5"),
            ("a=()", "a=()"), ("a=( 1  2 );b", "a=(1 2);b"), ("a=1, a=2", "a=2"), ("a;x=1;x=2", "a;x=2"),
            (#"a=%"f%c3%bc""#, #"a=%"f%c3%bc""#), ("*a_-.*9=1", "*a_-.*9=1"), ("", ""),
            ("a=999999999999999", "a=999999999999999"), ("a=999999999999.999", "a=999999999999.999"),
        ])
    func canonical(_ text: String, _ expected: String) throws {
        let parsed = try StructuredFieldParser.dictionary(text, rejectsDuplicates: false)
        #expect(parsed.text == expected)
        #expect(try StructuredFieldParser.dictionary(expected, rejectsDuplicates: true) == parsed)
    }

    @Test(
        "An invalid structured field is an error",
        arguments: [
            "A=1", "a=", "a=1,", "a b", "a=1000000000000000", "a=1234567890123.1", "a=1.", "a=1.1234", "a=--1", "a=-",
            #"a=""#, #"a="\x""#, "a=\"é\"", "a=:A:", "a=:AAE=", "a=:AAF=:", "a=:AA EC:", "a=:A-_C:", "a=?2", "a=?",
            "a=(1", "a=(1)2", "a=(1,2)", "a=@1.5", "a=@", #"a=%"%C3""#, #"a=%"%ff""#, #"a=%a"#, "a=1;B", "a=1;", "é=1",
            "a=!", "a=1\n", "\ta=1", "a=1 b=2",
        ])
    func invalid(_ text: String) throws {
        let error = try #require(throws: KeychainError.self) {
            try StructuredFieldParser.dictionary(text, rejectsDuplicates: false)
        }
        #expect(error.status.rawValue == -50)
    }

    @Test("The length of a field, its members and its parameters are limited")
    func limits() throws {
        let members = (0...256).map { "a\($0)" }.joined(separator: ",")
        let parameters = "a" + (0...64).map { ";p\($0)" }.joined()
        let items = "a=(" + String(repeating: "1 ", count: 257) + ")"
        for text in [members, parameters, items, String(repeating: " ", count: 64 * 1024 + 1)] {
            #expect(throws: KeychainError.self) {
                try StructuredFieldParser.dictionary(text, rejectsDuplicates: false)
            }
        }
    }

    @Test("A duplicate key is an error where two readers must see the same value", arguments: ["a=1,a=2", "a;x;x=2"])
    func duplicates(_ text: String) {
        #expect(throws: KeychainError.self) { try StructuredFieldParser.dictionary(text, rejectsDuplicates: true) }
    }
}
