// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// `latchkey certificate expiring`, with certificates made by openssl.
@Suite("Expiring certificates")
struct ExpiringCommandTests {
    private let keychain: TestKeychain
    private let authority: OpenSSLAuthority
    /// Valid for 90 days, 10 days, and not any more.
    private let (long, short, expired): (String, String, String)

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        authority = try OpenSSLAuthority()
        long = try authority.server("long.example.com", days: 90).file
        short = try authority.server("short.example.com", days: 10).file
        expired = try authority.server("old.example.com", days: -1).file
    }

    private func subjects(_ outcome: Outcome) throws -> [String] {
        let array = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        return try #require(array).compactMap { $0["subject"] as? String }
    }

    @Test("only certificates that end within the days are listed, the first to expire first")
    func files() throws {
        let all = "\(long) \(short) \(expired)"
        let expected: [(String, [String], Int32)] = [
            ("", ["CN=old.example.com", "CN=short.example.com"], 1), ("--days 0", ["CN=old.example.com"], 1),
            ("--days 9", ["CN=old.example.com"], 1),
            ("--days 91", ["CN=old.example.com", "CN=short.example.com", "CN=long.example.com"], 1),
            ("--days 0 --date 2020-01-01", [], 0),
        ]
        for (options, subjects, exit) in expected {
            let outcome = keychain.latchkey("certificate expiring --json \(options) \(all)")
            #expect(try self.subjects(outcome) == subjects, "\(options)")
            #expect(outcome.exit == exit && outcome.error.isEmpty, "\(options)")
        }
    }

    @Test("each line has the end, the days that are left, and the certificate")
    func text() throws {
        let outcome = keychain.latchkey("certificate expiring \(short) \(expired)")
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.exit == 1 && lines.count == 2)
        #expect(lines.first?.contains("Z  expired  CN=old.example.com  ") == true)
        #expect(lines.last?.contains(#/Z  (9|10) days left  CN=short\.example\.com  [0-9a-f]{64}/#) == true)
        let none = keychain.latchkey("certificate expiring \(long)")
        #expect(none == Outcome(exit: 0, output: "", error: ""))
    }

    @Test("without files, the certificates of the keychain are listed, also if there are none")
    func stored() throws {
        let none = keychain.latchkey("certificate expiring")
        #expect(none == Outcome(exit: 0, output: "", error: ""))
        #expect(keychain.security("add-certificates \(short) \(long)").exit == 0)
        let outcome = keychain.latchkey("certificate expiring --json")
        #expect(try subjects(outcome) == ["CN=short.example.com"] && outcome.exit == 1)
    }

    @Test("a wrong number, and a file without a certificate, are errors of their own")
    func errors() throws {
        for days in ["-1", "36501", "x"] {
            #expect(keychain.latchkey("certificate expiring --days=\(days) \(long)").exit == 2, "\(days)")
        }
        let outcome = keychain.latchkey("certificate expiring /dev/null")
        #expect(outcome.exit == 93 && outcome.error.contains("no certificate found"))
    }
}
