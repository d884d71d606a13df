// SPDX-License-Identifier: Apache-2.0

import CLatchkey
import Foundation
import Glibc
import KeychainTesting
import Testing

/// `latchkey lint --migrate`.
@Suite("latchkey lint moves secrets into the keychain")
struct LintMigrationTests {
    private let place: LintPlace
    private let home: TemporaryDirectory

    private static let secret = "x8Kd02q-lpA7Zq13"

    init() throws { (place, home) = (try LintPlace(), try TemporaryDirectory()) }

    private func migrate(_ words: String..., yes: Bool = true) throws -> Executable.Outcome {
        try place.run("latchkey-lint", ["lint", "--migrate"] + (yes ? ["--yes"] : []) + words, home: home.path)
    }

    /// The secret of an item; nil if there is none.
    private func item(_ name: String) throws -> String? {
        let outcome = try place.run("latchkey", ["get", name], home: home.path)
        return outcome.status == 0 ? String(outcome.output.dropLast(outcome.output.hasSuffix("\n") ? 1 : 0)) : nil
    }

    private struct Report: Decodable {
        struct Moved: Decodable {
            let service: String
            let account: String
            let replacement: String
        }
        struct Staying: Decodable { let reason: String }
        let dryRun: Bool
        let moved: [Moved]
        let staying: [Staying]
    }

    // MARK: Formats

    @Test(
        "The item has the secret, the file has the reference in its place, and every other byte stays",
        arguments: [
            (".env", "A=1\r\nexport DB_PASSWORD=\u{0}\r\nB=2\r\n", "DB_PASSWORD"),
            (
                "app.json", #"{"a": [1, {"db_password": "\#0"}], "b": "ü"}"#.replacing("\\#0", with: "\u{0}"),
                "db_password"
            ),
            ("app.yaml", "db:\n  password: \u{0} # of the server\n  port: 1\n", "password"),
            ("app.toml", "[db]\npassword = '\u{0}'", "password"),
            ("app.ini", "[db]\npassword=\u{0}\n", "password"),
            ("app.xml", "<c><password>\u{0}</password><port>1</port></c>\n", "password"),
            (
                "app.plist",
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>api_token</key>
                \t<string>\u{0}</string></dict></plist>
                """, "api_token"
            ),
            (".netrc", "machine a.example login me password \u{0}\n", "password-file"),
            (".npmrc", "//r.example/:_authToken=\u{0}\n", "_authToken"),
        ])
    func formats(_ name: String, _ form: String, _ account: String) throws {
        let old = form.replacing("\u{0}", with: Self.secret)
        try place.write(old, "shop/\(name)")
        let outcome = try migrate("shop")
        #expect(outcome.status == 0, "\(outcome)")
        let reference = "latchkey://shop/\(account)"
        #expect(try place.text("shop/\(name)") == form.replacing("\u{0}", with: reference))
        #expect(outcome.output.contains("-> \(reference)\n") && !outcome.output.contains("Kd02"))
        #expect(outcome.error.hasPrefix("1 secret of 1 file moved into the keychain\n"))
        #expect(try item("shop/\(account)") == Self.secret)
        // The reference is no secret.
        #expect(try place.lint("shop").status == 0)
    }

    @Test("Of a URL with a password, the whole URL moves")
    func urls() throws {
        let url = "postgres://app:\(Self.secret)@db.shop.test:5432/a?x=1&y=2"
        try place.write("DATABASE_URL=\"\(url)\"\nSECOND=jdbc:\(url)\n", "shop/.env")
        #expect(try migrate("shop").status == 0)
        let text = try place.text("shop/.env")
        #expect(
            text == """
                DATABASE_URL="latchkey://shop/connection-password"
                SECOND=latchkey://shop/connection-password-2

                """)
        #expect(try item("shop/connection-password") == url)
        #expect(try item("shop/connection-password-2") == "jdbc:\(url)")
    }

    @Test("Owner, mode, access control list and attributes stay; the time of the change does not")
    func attributes() throws {
        try place.write("password = \(Self.secret)\n", "shop/app.ini")
        let file = "\(place.path)/shop/app.ini"
        #expect(chmod(file, 0o640) == 0)
        let isRoot = geteuid() == 0
        if isRoot { #expect(chown(file, 12_345, 23_456) == 0) }
        let old = open(file, O_RDONLY)
        defer { close(old) }
        #expect(latchkey_set_attribute(old, "user.note", "kept", 4) == 0)
        var past = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, file, &past, 0) == 0)
        #expect(try migrate(file).status == 0)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o640 && status.st_mtim.tv_sec > 1_000_000_000)
        #expect(!isRoot || status.st_uid == 12_345 && status.st_gid == 23_456)
        var value = [UInt8](repeating: 0, count: 8)
        let new = open(file, O_RDONLY)
        defer { close(new) }
        #expect(latchkey_get_attribute(new, "user.note", &value, 8) == 4 && value.prefix(4).elementsEqual("kept".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place.path)/shop") == ["app.ini"])
    }

    // MARK: Findings that stay

    @Test("Findings that cannot be replaced stay, each with its reason, and the exit value is 1")
    func staying() throws {
        let line = "password = \(Self.secret)\n"
        try place.write("let password = \"\(Self.secret)\"\n", "a.swift")
        try place.write(Data(line.utf8).base64EncodedString(), "b.txt")
        try place.write("\u{FEFF}", "c.ini")
        try Data(line.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }).write(
            to: URL(filePath: "\(place.path)/c.ini"))
        try place.write(#"{"password": "\u0041x8Kd02q\/lpA7Zq13"}"#.replacing(#"\u0041"#, with: "A"), "d.json")
        try place.write("<password>x8Kd02q&amp;lpA7Zq13</password>\n", "e.xml")
        try place.write(try Self.key(), "f.pem")
        let old = try ["a.swift", "b.txt", "d.json", "e.xml", "f.pem"].map(place.text)
        let outcome = try migrate(".")
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.error == "0 secrets of 0 files would be moved into the keychain, and 6 left where they are\n")
        let reasons = outcome.output.split(separator: "\n").compactMap { $0.split(separator: " stays: ").last }
        #expect(
            reasons.sorted() == [
                "it has several lines", "it is a part of a value, or written with escapes",
                "it is a part of a value, or written with escapes", "it is encoded", "it is encoded", "it is in code",
            ])
        #expect(try ["a.swift", "b.txt", "d.json", "e.xml", "f.pem"].map(place.text) == old)
    }

    @Test(
        "A part of a value, and a text that means something else, stay",
        arguments: [
            (".env", "DB_PASSWORD=x8Kd02q,lpA7Zq13\n"), (".env", "DB_PASSWORD=x8Kd02q-lpA7'Zq13'\n"),
            (".env", "DB_PASSWORD=\"x8Kd02q-$A-lpA7\"\n"),
            (".env", "API_TOKEN=\(String(repeating: "x8Kd02q", count: 700))\n"),
            ("a.ini", "password = x8Kd02q-lpA7;Zq13\n"), ("a.ini", "password = x8Kd02q-lpA7 ; of the server\n"),
            ("a.ini", "password = x8Kd%%02q-lpA7\n"), ("a.json", #"{"password": "x8Kd02q-lpA7\"Zq13"}"#),
            ("a.yaml", "password: 'x8Kd02q-lpA7''Zq13'\n"), ("a.yaml", "password: x8Kd02q-lpA7 Zq13 zz\n"),
            ("a.yaml", "password: x8Kd02q-lpA7\n  Zq13\n"), ("a.yaml", "- password: x8Kd02q-lpA7\n\n    Zq13\n"),
            ("a.ini", "password = x8Kd02q-lpA7\n  Zq13\n"),
            ("a.json", #"{"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" : 1}"#),
            ("a.yaml", "password: !vault |\n  a\n"), ("a.yaml", "password: !!str x8Kd02q-lpA7\n"),
            ("a.yaml", "urls: [postgres://u:x8Kd02qlpA7Zq13@db.shop.test/a, b]\n"),
            ("a.yaml", "a: {url: postgres://u:x8Kd02qlpA7Zq13@db.shop.test/a}\n"),
            (".netrc", "machine a.example login me password \"x8Kd02q lpA7Zq13\"\n"),
            (".bash_history", "mysql --password=x8Kd02q'lp A7'Zq13\n"),
            (".bash_history", "psql postgres://u:x8Kd02qlpA7Zq13@db.shop.test/a;ls\n"),
            ("a.csv", "1,postgres://u:x8Kd02qlpA7Zq13@db.shop.test/a,note,5432\n"),
            (".git/config", "[remote \"o\"]\n\turl = https://u:x8Kd02qlpA7Zq13@db.shop.test/a\n"),
            ("Dockerfile", "RUN curl -u me:x8Kd02qlpA7Zq13 https://a.shop.test\n"),
            ("config.json", #"{"auths": {"a": {"auth": "bWU6eDhLZDAycS1scEE3WnExMw=="}}}"#),
            ("secret.yaml", "data:\n  password: eDhLZDAycS1scEE3WnExMw==\n"),
        ])
    func parts(_ name: String, _ text: String) throws {
        try place.write(text, name)
        let outcome = try migrate(".")
        #expect(outcome.status <= 1 && outcome.error.hasPrefix("0 secrets of 0 files"), "\(outcome)")
        #expect(try place.text(name) == text)
    }

    @Test(
        "The file that was scanned is the one that changes, also with slashes and bytes that are not UTF-8 in its path")
    func paths() throws {
        let text = "password = \(Self.secret)\n"
        try place.write(text, "a.ini")
        try place.write(text, "n\\xff.ini")
        let odd = Array("\(place.path)/n".utf8) + [0xFF] + Array(".ini\0".utf8)
        let file = odd.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_RDWR | O_CREAT, 0o600) }
        }
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        let outcome = try migrate(".//.", "--service", "shop")
        #expect(outcome.status == 0 && outcome.error.hasPrefix("3 secrets of 3 files"), "\(outcome)")
        var status = stat()
        #expect(fstat(file, &status) == 0 && status.st_nlink == 0, "the file of odd bytes was not replaced")
        close(file)
        #expect(try place.text("a.ini") == "password = latchkey://shop/password\n")
    }

    @Test("A draft that a killed migration left is removed by the next one")
    func drafts() throws {
        try place.write("password = \(Self.secret)\n", "shop/a.ini")
        try place.write("old", "shop/.latchkey-draft-0123")
        #expect(try migrate("shop").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place.path)/shop") == ["a.ini"])
    }

    private static func key() throws -> String {
        try Executable.run("/usr/bin/openssl", ["genpkey", "-algorithm", "ed25519"], home: "/").output
    }

    @Test("A file of several names stays as it is: the others would keep the secret")
    func links() throws {
        try place.write("password = \(Self.secret)\n", "a.ini")
        #expect(link("\(place.path)/a.ini", "\(place.path)/b.ini") == 0)
        let outcome = try migrate("a.ini")
        #expect(
            outcome.status == 2 && outcome.error.contains("not moved: a.ini: cannot replace one name of"), "\(outcome)")
        #expect(try place.text("a.ini") == "password = \(Self.secret)\n")
    }

    // MARK: Items

    @Test("Equal secrets share an item, others get a number, and a second run uses the items of the first")
    func names() throws {
        let text = "password = \(Self.secret)\n"
        try place.write(text + "password = otherKd02q-lpA7Zq13\n", "shop/a.ini")
        try place.write(text, "shop/b.ini")
        #expect(try migrate("shop").status == 0)
        #expect(
            try place.text("shop/a.ini")
                == "password = latchkey://shop/password\npassword = latchkey://shop/password-2\n")
        #expect(try place.text("shop/b.ini") == "password = latchkey://shop/password\n")
        try place.write(text, "shop/c.ini")
        #expect(try migrate("shop").status == 0)
        #expect(try place.text("shop/c.ini") == "password = latchkey://shop/password\n")
        let listed = try place.run("latchkey", ["list"], home: home.path).output
        #expect(listed.split(separator: "\n").count { $0.contains("shop/") } == 2, "\(listed)")
        try place.write(text, "d.ini")
        #expect(try migrate("--service", "a b/ü", "--leave", "reference", "d.ini").status == 0)
        #expect(try place.text("d.ini") == "password = latchkey://a%20b%2F%C3%BC/password\n")
        #expect(try item("a b/ü/password") == Self.secret)
    }

    @Test("--leave nothing leaves nothing, and the item has the secret")
    func nothing() throws {
        try place.write("mysql -u me -p\(Self.secret) shop\nls\n", "shop/.bash_history")
        let outcome = try migrate("--leave", "nothing", "shop")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try place.text("shop/.bash_history") == "mysql -u me -p shop\nls\n")
        #expect(try item("shop/command-argument") == Self.secret)
    }

    @Test("Accepted findings and disabled rules stay as they are")
    func accepted() throws {
        try place.write("password = \(Self.secret)\n", "shop/a.ini")
        #expect(try place.lint("--write-baseline", "known.json", "shop").status == 0)
        try place.write("password = \(Self.secret)\napi_key = 7Fq2kd91-aa0bZ\n", "shop/a.ini")
        let outcome = try migrate("--baseline", "known.json", "shop")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try place.text("shop/a.ini") == "password = \(Self.secret)\napi_key = latchkey://shop/api_key\n")
    }

    // MARK: Asking

    @Test("A dry run and a run that cannot ask change nothing")
    func dryRun() throws {
        try place.write("password = \(Self.secret)\n", "shop/a.ini")
        let dry = try migrate("--dry-run", "--json", "shop")
        #expect(dry.status == 0, "\(dry)")
        let report = try JSONDecoder().decode(Report.self, from: Data(dry.output.utf8))
        #expect(report.dryRun && report.staying.isEmpty)
        #expect(
            report.moved.map { [$0.service, $0.account, $0.replacement] } == [
                ["shop", "password", "latchkey://shop/password"]
            ])
        let unasked = try migrate("shop", yes: false)
        #expect(unasked.status > 2 && unasked.error.contains("no terminal"), "\(unasked)")
        #expect(try place.text("shop/a.ini") == "password = \(Self.secret)\n")
        #expect(try item("shop/password") == nil)
        for option in ["--sarif", "--staged", "--history", "--against-keychain"] {
            #expect(try migrate(option, "shop").status == 2)
        }
        #expect(try place.lint("--yes", "shop").status == 2)
    }

    /// A change while the question is on the screen.
    enum Event: CaseIterable { case nothing, fileChange, otherItem }

    @Test(
        "It asks first; a file that changes before the answer, and one whose item cannot be stored, stay",
        arguments: Event.allCases)
    func answers(_ event: Event) throws {
        let text = "password = \(Self.secret)\n"
        try place.write(text, "shop/a.ini")
        let terminal = try PseudoTerminal()
        let process = try SpawnedProcess(
            [
                "/bin/sh", "-c", "cd \"$2\" && exec \"$3\" lint --migrate shop <\"$1\" 2>\"$1\"", "sh", terminal.path,
                place.path, Executable.path("latchkey-lint"),
            ],
            environment: [
                "LATCHKEY_HOME": home.path, "LATCHKEY_NO_DAEMON": "1", "PATH": "/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no",
            ], output: "\(home.path)/output")
        #expect(eventually { terminal.screen.contains("Continue?") })
        #expect(try place.text("shop/a.ini") == text)
        switch event {
        case .nothing: break
        case .fileChange: try place.write(text + "# new\n", "shop/a.ini")
        case .otherItem:
            let set = try place.run("latchkey", ["set", "shop/password"], home: home.path, input: "another secret")
            #expect(set.status == 0, "\(set)")
        }
        terminal.type("yes\n")
        #expect(process.awaitExit() == (event == .nothing ? 0 : 2), "\(terminal.screen)")
        let expected = ["password = latchkey://shop/password\n", text + "# new\n", text]
        #expect(try place.text("shop/a.ini") == expected[Event.allCases.firstIndex(of: event) ?? 0])
        #expect(event == .nothing || terminal.screen.contains("not moved: shop/a.ini: "))
    }

    @Test("With a locked keychain nothing moves without the passcode")
    func locked() throws {
        try place.write("password = \(Self.secret)\n", "shop/a.ini")
        let file = "\(home.path)/passcode"
        try Data("a long passcode\n".utf8).write(to: URL(filePath: file))
        #expect(chmod(file, 0o600) == 0)
        #expect(try place.run("latchkey", ["passcode", "set", "--passcode-file", file], home: home.path).status == 0)
        let refused = try migrate("shop")
        #expect(refused.status != 0, "\(refused)")
        #expect(try place.text("shop/a.ini") == "password = \(Self.secret)\n")
        let outcome = try migrate("--passcode-file", file, "shop")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try place.text("shop/a.ini") == "password = latchkey://shop/password\n")
    }

    @Test("Killed at any moment, it leaves the old file, or the new one and the item")
    func kills() throws {
        let text = "password = \(Self.secret)\n"
        let words = ["lint", "--migrate", "--yes", "shop"]
        try place.write(text, "shop/a.ini")
        let start = ContinuousClock.now
        #expect(try place.run("latchkey-lint", words, home: home.path).status == 0)
        let duration = ContinuousClock.now - start
        var outcomes: Set<String> = []
        for step in 0..<24 {
            let own = try TemporaryDirectory()
            try place.write(text, "shop/a.ini")
            let process = Executable.process(
                "latchkey-lint", Array(words.dropLast()) + ["\(place.path)/shop"], home: own.path)
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.start()
            // The last one is killed when the file has changed, however long that takes.
            if step < 23 {
                usleep(UInt32(duration / .microseconds(1) * Double(step) / 20))
            } else {
                #expect(eventually { (try? place.text("shop/a.ini")) != text })
            }
            kill(process.processIdentifier, SIGKILL)
            process.awaitExit()
            let now = try place.text("shop/a.ini")
            outcomes.insert(now)
            if now != text {
                #expect(now == "password = latchkey://shop/password\n")
                let stored = try place.run("latchkey", ["get", "shop/password"], home: own.path)
                #expect(stored.output == Self.secret, "\(step): \(stored)")
            }
            let again = try place.run("latchkey-lint", words, home: own.path)
            #expect(again.status == 0, "\(step): \(again)")
            #expect(try place.text("shop/a.ini") == "password = latchkey://shop/password\n")
        }
        #expect(outcomes.count == 2, "the kills did not come before and behind the change")
    }
}
