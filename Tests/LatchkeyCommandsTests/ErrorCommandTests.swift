// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyCommands
import Testing

/// `security error` (keychain-behaviour §8.2).
@Suite("error")
struct ErrorCommandTests {
    @Test(
        "a code is decimal, hexadecimal, unsigned or a name; the exit value is always 1",
        arguments: [
            ("-25300", "Error: 0xFFFF9D2C -25300 no matching item\n"),
            ("0xFFFF9D2C", "Error: 0xFFFF9D2C -25300 no matching item\n"),
            ("0xffff9d2c", "Error: 0xFFFF9D2C -25300 no matching item\n"),
            ("4294941996", "Error: 0xFFFF9D2C -25300 no matching item\n"),
            ("errSecItemNotFound", "Error: 0xFFFF9D2C -25300 no matching item\n"),
            ("0", "Error: 0x00000000 0 no error\n"),
            ("0x0", "Error: 0x00000000 0 no error\n"),
            ("-1234", "Error: 0xFFFFFB2E -1234 unknown status\n"),
            (
                "0 -50",
                "Error: 0x00000000 0 no error\nError: 0xFFFFFFCE -50 a parameter is missing, of the wrong type or not allowed\n"
            ),
        ])
    func codes(words: String, text: String) throws {
        #expect(try TestKeychain(.ephemeral).security("error \(words)") == Outcome(exit: 1, output: text, error: ""))
    }

    @Test("an invalid code is named", arguments: ["banana", "0x", "4294967296", "0x100000000", "-2147483649", "-h"])
    func noCodes(word: String) throws {
        let outcome = try TestKeychain(.ephemeral).security("error \(word) 0")
        #expect(outcome.exit == 1)
        #expect(outcome.output == "Error: 0x00000000 0 no error\n")
        #expect(outcome.error.hasPrefix("security: '\(word)' is not a status"))
    }
}
