// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey lint --against-keychain`.
@Suite("latchkey lint against the keychain")
struct LintKeychainTests {
    private let place: LintPlace
    private let home: TemporaryDirectory

    private static let secret = "Tr0ub4dor&3-zebra"

    init() throws {
        (place, home) = (try LintPlace(), try TemporaryDirectory())
        try place.write("nothing to see\n", "notes.txt")
    }

    /// Runs a program of ours on this test's keychain, in the directory of the files.
    private func run(_ program: String, _ words: [String], input: String? = nil) throws -> Executable.Outcome {
        try place.run(program, words, home: home.path, input: input)
    }

    private func add(_ account: String, _ secret: String) throws {
        let outcome = try run("latchkey", ["set", "example.com/\(account)"], input: secret)
        #expect(outcome.status == 0, "\(outcome)")
    }

    private func lint(_ words: String..., input: String? = nil) throws -> Executable.Outcome {
        try run("latchkey-lint", ["lint", "--against-keychain"] + words, input: input)
    }

    @Test("Exact copies are named with the item and the place, in every encoding, and no part of the secret is shown")
    func encodings() throws {
        try add("me", Self.secret)
        let bytes = Data(Self.secret.utf8)
        let wide: [UInt8] = Self.secret.utf8.flatMap { [$0, 0] as [UInt8] }
        try place.write("a\nbut \(Self.secret) is here\n", "plain.txt")
        try place.write("x \(bytes.base64EncodedString()) y\n", "base64.txt")
        try place.write("x \(bytes.map { String(format: "%02X", $0) }.joined()) y\n", "hex.txt")
        try place.write("u=Tr0ub4dor%263-zebra&x\n", "percent.txt")
        try place.write(Data(bytes.base64EncodedString().utf8).base64EncodedString() + "\n", "nested.txt")
        try Data([0xFF, 0xFE] + wide).write(to: URL(filePath: "\(place.path)/wide.txt"))
        try Data([1, 2, 0xFF] + wide + [7, 7]).write(to: URL(filePath: "\(place.path)/memory.bin"))
        let outcome = try lint(".")
        #expect(outcome.status == 1, "\(outcome)")
        let lines = outcome.output.split(separator: "\n").filter { $0.contains("[keychain-copy]") }.map(String.init)
        for file in ["base64", "hex", "percent", "nested", "wide", "memory", "plain"] {
            #expect(lines.contains { $0.hasPrefix("\(file).") }, "\(file): \(lines)")
        }
        #expect(lines.contains("plain.txt:2:5: a copy of a keychain item, example.com (me) [keychain-copy]"))
        #expect(lines.allSatisfy { $0.contains("example.com (me)") })
        #expect(outcome.error.contains("compared with 1 keychain item\n"))
        #expect(!(outcome.output + outcome.error).contains("zebra"))
    }

    @Test("A copy in an archive, in a database, in its deleted rows, and at the end of a large file is found")
    func documents() throws {
        try add("me", Self.secret)
        try FileManager.default.createDirectory(atPath: "\(place.path)/d", withIntermediateDirectories: true)
        let made = try Executable.run(
            "/bin/sh",
            [
                "-c",
                """
                cd "$1/d" && printf '%s' "$2" > inner.txt && tar czf a.tgz inner.txt && rm inner.txt &&
                { echo aGVsbG8gd29ybGQgdGhpcyBpcyBsb25n; head -c 4063194 /dev/zero | tr '\\0' .; printf '%s' "$2"
                    head -c 1000000 /dev/zero | tr '\\0' .; } > parts.txt &&
                head -c 9000000 /dev/zero | tr '\\0' '.' > large.txt && printf '%s' "$2" >> large.txt &&
                /usr/bin/python3 - "$2" <<'END'
                import sqlite3, sys
                rows = sqlite3.connect("rows.db"); rows.execute("create table t(a)")
                rows.execute("insert into t values(?)", (sys.argv[1],)); rows.commit(); rows.close()
                old = sqlite3.connect("old.db"); old.execute("pragma secure_delete=off"); old.execute("create table t(a)")
                old.execute("insert into t values(?)", (sys.argv[1],)); old.execute("delete from t"); old.commit(); old.close()
                END
                """, "sh", place.path, Self.secret,
            ], home: home.path)
        #expect(made.status == 0, "\(made)")
        let outcome = try lint("d")
        let lines = outcome.output.split(separator: "\n").filter { $0.contains("[keychain-copy]") }.map(String.init)
        for file in [
            "d/a.tgz > a.tar > inner.txt:1:1:", "d/rows.db > t", "d/old.db:1:1 (bytes):", "d/large.txt:1:9000001:",
            "d/parts.txt:2:4063195:",
        ] {
            #expect(lines.count { $0.hasPrefix(file) } == 1, "\(file): \(outcome)")
        }
    }

    @Test("Copies in the dictionaries of typed words are found: hunspell's words, and the database of IBus")
    func dictionaries() throws {
        try add("me", Self.secret)
        try place.write("Latchkey\n\(Self.secret)\nkeychain\n", ".hunspell_en_US")
        let made = try Executable.run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sqlite3, sys
                words = sqlite3.connect(sys.argv[1] + "/user.db")
                words.execute("create table phrases (id integer primary key, input_phrase text, phrase text, p_phrase text, "
                    "pp_phrase text, user_freq integer, timestamp real)")
                words.execute("insert into phrases values (1, ?, ?, '', '', 1, 0)", (sys.argv[2], sys.argv[2])); words.commit()
                """, place.path, Self.secret,
            ], home: home.path)
        #expect(made.status == 0, "\(made)")
        let lines = try lint(".").output.split(separator: "\n").filter { $0.contains("[keychain-copy]") }
        #expect(lines.count { $0.hasPrefix(".hunspell_en_US:2:1:") } == 1, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("user.db > phrases") }, "\(lines)")
    }

    @Test("With a passcode, it must be given; items that are left out are counted, also in JSON")
    func passcode() throws {
        try add("me", Self.secret)
        try add("short", "pass")
        try place.write(Self.secret, "copy.txt")
        let file = "\(home.path)/passcode"
        try Data("a long passcode\n".utf8).write(to: URL(filePath: file))
        #expect(chmod(file, 0o600) == 0)
        let set = try run("latchkey", ["passcode", "set", "--passcode-file", file])
        #expect(set.status == 0, "\(set)")
        let refused = try lint(".")
        #expect(refused.status > 2 && refused.output.isEmpty, "\(refused)")
        let outcome = try lint("--json", "--passcode-file", file, ".")
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.output.contains("\"kind\" : \"keychain-copy\"") && outcome.output.contains("\"tooShort\" : 1"))
    }

    @Test("Without the option, the keychain is not opened")
    func without() throws {
        try place.write(Self.secret, "copy.txt")
        #expect(try run("latchkey-lint", ["lint", "."]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(home.path)/keychain.db"))
    }
}
