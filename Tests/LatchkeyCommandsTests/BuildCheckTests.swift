// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey doctor --build`. `Scripts/check/linkers` runs it on the programs of each linker.
@Suite("The doctor of a build")
struct BuildCheckTests {
    private func check(_ words: [String]) throws -> Executable.Outcome {
        try Executable.run(Executable.path("latchkey"), ["doctor", "--build"] + words, home: "/nonexistent")
    }

    @Test("A redirected program is well, and a plain one is told its calls")
    func programs() throws {
        let (redirected, plain) = (Executable.path("RedirectedPromises"), Executable.path("PlainPromises"))
        var outcome = try check([redirected])
        #expect(
            outcome.status == 0
                && outcome.output == "ok       \(redirected): all 26 calls of Foundation are redirected\n")
        outcome = try check([redirected, plain])
        #expect(outcome.status == 1 && outcome.output.hasPrefix("ok       \(redirected): all 26"))
        #expect(outcome.output.contains("WRONG    \(plain): "), "\(outcome)")
        #expect(
            outcome.output.contains(
                "Data.write(to:options:) protects files only in a program with LatchkeyRedirections\n"))
        #expect(outcome.output.contains("hint: link the program with LatchkeyRedirections"))
        outcome = try check(["--json", plain])
        let report = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        #expect(outcome.status == 1 && report?["healthy"] as? Bool == false)
    }

    @Test("A program without symbols, and a file that is no program, are not called well")
    func unknown() throws {
        let directory = try TemporaryDirectory()
        let stripped = "\(directory.path)/stripped"
        for program in ["RedirectedPromises", "PlainPromises"] {
            try? FileManager.default.removeItem(atPath: stripped)
            try FileManager.default.copyItem(atPath: Executable.path(program), toPath: stripped)
            #expect(try Executable.run("/usr/bin/strip", [stripped], home: "").status == 0)
            let outcome = try check([stripped])
            #expect(outcome.status == 1 && outcome.output.contains("it has no symbols"), "\(outcome)")
            #expect(outcome.output.contains("hint: check the file before strip"))
        }
        for path in ["/etc/passwd", "/nonexistent", directory.path] {
            let outcome = try check([path])
            #expect(outcome.status == 1 && outcome.output.hasPrefix("WRONG    \(path): "), "\(outcome)")
        }
        #expect(try check([]).status == 2)
        #expect(try check(["--report", "/bin/true"]).status == 2)
    }
}
