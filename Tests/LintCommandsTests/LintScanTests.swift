// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey lint`, as a process, on files of its own.
@Suite("latchkey lint")
struct LintScanTests {
    private let place: LintPlace

    init() throws {
        place = try LintPlace()
        try place.write("[server]\nhost = a\ndb_password = x8Kd02q-lpA7Zq13\n", "app.ini")
        try place.write("nothing to see\n", "notes.txt")
    }

    @Test("A secret is named with its file, line, column and name, and both ends alone are shown")
    func finding() throws {
        let outcome = try place.lint(".")
        #expect(outcome.status == 1)
        #expect(outcome.output == "app.ini:3:15: password or secret, db_password: x8…13 [named-value]\n")
        #expect(outcome.error == "1 finding in 2 files\n")
        let found = try place.report(".", status: 1)
        let finding = try #require(found.findings.first)
        #expect(finding.file == "app.ini" && finding.line == 3 && finding.column == 15 && finding.name == "db_password")
        #expect(found.files == 2 && found.problems.isEmpty)
    }

    @Test("Without a finding the exit value is 0, and nothing is printed")
    func nothing() throws {
        let outcome = try place.lint("notes.txt")
        #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.error == "0 findings in 1 file\n")
    }

    @Test("A file that cannot be scanned is named, the rest is scanned, and the exit value is 2")
    func problems() throws {
        let found = try place.report("app.ini", "missing", status: 2)
        #expect(found.findings.count == 1 && found.problems.map(\.file) == ["missing"])
        try place.write("PK\u{3}\u{4} no archive", "broken.zip")
        let outcome = try place.lint(".")
        #expect(
            outcome.status == 2 && outcome.output.contains("app.ini:3:15")
                && outcome.error.contains("not scanned: broken.zip: "))
    }

    @Test("Pipes, links and the objects of .git are left out, and nothing waits or is followed twice")
    func specialFiles() throws {
        #expect(mkfifo("\(place.path)/fifo", 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: "\(place.path)/loop", withDestinationPath: ".")
        try FileManager.default.createSymbolicLink(atPath: "\(place.path)/link", withDestinationPath: "app.ini")
        try place.write("password = x8Kd02q-lpA7Zq13\n", ".git/objects/config")
        // The name of a draft of Latchkey hides nothing.
        try place.write("password = x8Kd02q-lpA7Zq13\n", ".latchkey-draft-0.ini")
        try place.write("[remote \"a\"]\n\turl = https://me:x8Kd02q-lpA7Zq13@git.shop.test/a\n", ".git/config")
        let found = try place.report(".", status: 1).findings
        #expect(found.map(\.file) == [".git/config", ".latchkey-draft-0.ini", "app.ini"])
    }

    @Test("A tree that is deeper than a process may have open files is named, and the rest is scanned")
    func deepTree() throws {
        let folders = String(repeating: "d/", count: 100)
        try place.write("a = 1\n", "deep/\(folders)z.ini")
        for depth in 0..<100 { try place.write("a = 1\n", "deep/\(String(repeating: "d/", count: depth))z.ini") }
        let script = "ulimit -n 64 && cd \"$1\" && exec \"$2\" lint --json ."
        let outcome = try Executable.run(
            "/bin/sh", ["-c", script, "sh", place.path, Executable.path("latchkey-lint")], home: place.path)
        let report = try JSONDecoder().decode(LintPlace.Report.self, from: Data(outcome.output.utf8))
        #expect(outcome.status == 2 && report.findings.map(\.file) == ["app.ini"], "\(outcome)")
        #expect(
            report.problems.count == 1 && report.problems[0].reason.contains("Too many open files"),
            "\(report.problems)")
    }

    @Test("A file of the kernel without a size is read, and a path that is no file is named")
    func kernelFiles() throws {
        // The environment of the shell: this program's own is readable for root alone.
        let script = "cd \"$1\" && \"$2\" lint --json /proc/$$/environ /dev/null; exit $?"
        let outcome = try Executable.run(
            "/bin/sh", ["-c", script, "sh", place.path, Executable.path("latchkey-lint")], home: place.path,
            environment: ["MY_PASSWORD": "x8Kd02q-lpA7Zq13"])
        let report = try JSONDecoder().decode(LintPlace.Report.self, from: Data(outcome.output.utf8))
        #expect(outcome.status == 2 && report.findings.map(\.name) == ["MY_PASSWORD"], "\(outcome)")
        #expect(report.problems.map(\.file) == ["/dev/null"])
    }

    @Test("A file that changes while it is read is named")
    func change() throws {
        try Data([UInt8](repeating: 0x61, count: 6_000_000)).write(to: URL(filePath: "\(place.path)/b.log"))
        let script = """
            cd "$1" && ( while [ ! -e end ]; do printf a >> b.log; done ) & cd "$1"
            while [ "$(stat -c %s b.log)" = 6000000 ]; do :; done
            "$2" lint --json b.log
            status=$?; touch end; wait; exit $status
            """
        let outcome = try Executable.run(
            "/bin/sh", ["-c", script, "sh", place.path, Executable.path("latchkey-lint")], home: place.path)
        #expect(outcome.status == 2 && outcome.output.contains("it was changed while it was scanned"), "\(outcome)")
    }

    @Test("Findings of the baseline are left out; a new one and a changed one are not")
    func baseline() throws {
        #expect(try place.lint("--write-baseline", "known.json", ".").status == 0)
        let written = try String(contentsOfFile: "\(place.path)/known.json", encoding: .utf8)
        #expect(!written.contains("x8") && written.contains("\"version\" : 1"))
        #expect(try place.report("--baseline", "known.json", ".", status: 0).known == 1)
        // An existing baseline is not replaced.
        #expect(try place.lint("--write-baseline", "known.json", ".").status != 0)
        try place.write("\n\n[server]\ndb_password = x8Kd02q-lpA7Zq13\napi_key = 7Fq2kd91-aa0\n", "app.ini")
        let found = try place.report("--baseline", "known.json", ".", status: 1)
        #expect(found.known == 1 && found.findings.map(\.name) == ["api_key"])
        for (name, text) in [
            ("missing.json", nil), ("bad.json", "[]"), ("new.json", #"{"version": 9, "findings": []}"#),
        ] {
            if let text { try place.write(text, name) }
            #expect(try place.lint("--baseline", name, ".").error.contains("baseline"))
        }
    }

    @Test("SARIF has a rule for each finding, its place and its fingerprint")
    func sarif() throws {
        try place.write("password = x8Kd02q-lpA7Zq13\n", "a folder/ä.ini")
        let outcome = try place.lint("--sarif", ".")
        #expect(outcome.status == 1)
        let document = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let run = try #require((document["runs"] as? [[String: Any]])?.first)
        let results = try #require(run["results"] as? [[String: Any]])
        let rules = (((run["tool"] as? [String: Any])?["driver"] as? [String: Any])?["rules"] as? [[String: Any]])?
            .compactMap { $0["id"] as? String }
        #expect(document["version"] as? String == "2.1.0" && results.count == 2)
        for result in results { #expect(rules?.contains(result["ruleId"] as? String ?? "") == true) }
        #expect(
            outcome.output.contains("\"uri\" : \"a%20folder/%C3%A4.ini\"") && outcome.output.contains("latchkey/v1"))
    }

    @Test(
        "A command line that is not valid exits with 2, and names the problem",
        arguments: [["--json", "--sarif", "."], ["--staged", "--history"], ["--shape", "."], []])
    func usage(_ words: [String]) throws {
        let program = Executable.path("latchkey-lint")
        let outcome = try Executable.run(program, ["lint", "scan"] + words, home: place.path)
        #expect(outcome.status == 2 && outcome.error.hasPrefix("latchkey: ") && outcome.output.isEmpty, "\(outcome)")
    }
}
