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
                && outcome.output == "ok       \(redirected): redirected: all of 26 calls of Foundation\n")
        outcome = try check([redirected, plain])
        #expect(outcome.status == 1 && outcome.output.hasPrefix("ok       \(redirected): redirected: all of 26"))
        #expect(outcome.output.contains("WRONG    \(plain): "), "\(outcome)")
        #expect(
            outcome.output.contains(
                "Data.write(to:options:) protects files only in a program with LatchkeyRedirections\n"))
        #expect(outcome.output.contains("hint: link the program with LatchkeyRedirections"))
        outcome = try check(["--json", plain])
        let report = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        #expect(outcome.status == 1 && report?["healthy"] as? Bool == false)
    }

    @Test("Of a program with shared libraries, the libraries decide", arguments: ["", "__attribute__((weak)) "])
    func libraries(_ binding: String) throws {
        let directory = try TemporaryDirectory()
        let symbol = "__wrap_$s20FoundationEssentials11FileManagerC7defaultACvgZ"
        let (library, program) = ("\(directory.path)/library.so", "\(directory.path)/program")
        let path = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        func compile(_ text: String, _ options: [String], to output: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(output).c"))
            let outcome = try Executable.run(
                "/usr/bin/env", ["clang", "\(output).c", "-o", output] + options, home: "", environment: path)
            try #require(outcome.status == 0, "\(outcome)")
        }
        try compile("\(binding)void f(void) __asm__(\"\(symbol)\"); void f(void) {}", ["-shared"], to: library)
        try compile("void f(void) __asm__(\"\(symbol)\"); int main(void) { f(); return 0; }", [library], to: program)
        let alone = try check([program])
        #expect(alone.status == 1, "\(alone)")
        #expect(alone.output.contains("not known of 1 call of Foundation whether redirected"), "\(alone)")
        #expect(alone.output.contains("hint: name the shared libraries with Latchkey as well"))
        let both = try check([program, library])
        #expect(both.status == (binding.isEmpty ? 0 : 1))
        let expected = binding.isEmpty ? "redirected: all of 1 call" : "not redirected: 1 call"
        #expect(both.output.components(separatedBy: "\(expected) of Foundation").count == 3, "\(both)")
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
