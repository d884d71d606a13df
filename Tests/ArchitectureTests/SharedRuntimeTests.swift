// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The library that the executables of the Debian packages share (Documentation/Decisions/0074-shared-runtime.md).
@Suite("The shared runtime", .enabled(if: staticLibraries != nil))
struct SharedRuntimeTests {
    private static let script = Sources.root.appending(path: "Scripts/build/shared-runtime").path
    private static let library = "libLatchkeyRuntime.so.0"

    /// Builds the program `shared`, which finds the library in its directory.
    private func build(_ program: FoundationProgram) throws {
        let prepared = try run(
            Self.script, ["prepare", program.path("runtime"), "-static-libgcc", "-static-libstdc++"])
        #expect(prepared.status == 0, "\(prepared)")
        try program.build(
            "shared",
            [
                "-resource-dir", program.path("runtime/resources"), "-use-ld=lld", "-Xlinker", "-z", "-Xlinker",
                "nocopyreloc", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-rpath", "-Xlinker",
                program.directory.path,
            ])
    }

    private func finish(_ program: FoundationProgram, _ executable: String) throws -> (
        status: Int32, output: String, errors: String
    ) {
        try run(
            Self.script,
            ["finish", program.path("runtime"), program.path(Self.library), program.path(executable)])
    }

    @Test("A program prints the same with its own libraries and with those that it shares")
    func same() throws {
        try FoundationProgram.inDirectory { program in
            try program.build("alone")
            try build(program)
            let finished = try finish(program, "shared")
            #expect(finished.status == 0, "\(finished)")
            #expect(try program.output("shared") == program.output("alone"))
            #expect(try program.size("shared") < program.size("alone") / 100)
        }
    }

    @Test("The library has the symbols that the executables use, and no others")
    func symbols() throws {
        try FoundationProgram.inDirectory { program in
            try build(program)
            _ = try finish(program, "shared")
            let used = try names("--undefined-only", program.path("shared"))
            let all = try names("--defined-only", program.path("runtime/\(Self.library)"))
            let kept = try names("--defined-only", program.path(Self.library))
            let differences = kept.symmetricDifference(used.intersection(all)).sorted().prefix(5)
            #expect(differences == [])
            let (keptCount, allCount) = (kept.count, all.count)
            #expect(keptCount > 20 && allCount > 50_000)
            let partsOfCxxLibrary = ["__cxa_throw", "_ZTISt9exception"].filter { all.contains($0) }
            #expect(partsOfCxxLibrary == [])
        }
    }

    @Test("An executable that does not use the library is refused")
    func refuses() throws {
        try FoundationProgram.inDirectory { program in
            try build(program)
            let outcome = try run(
                Self.script, ["finish", program.path("runtime"), program.path(Self.library), "/bin/true"])
            #expect(
                outcome.status != 0 && outcome.errors.contains("no executable uses the library: /bin/true"),
                "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: program.path(Self.library)))
        }
    }

    /// The symbols of other libraries have versions, and are left out.
    private func names(_ option: String, _ path: String) throws -> Set<String> {
        let listed = try run("/usr/bin/env", ["nm", "--dynamic", option, "--format=just-symbols", path])
        #expect(listed.status == 0)
        return Set(listed.output.split(separator: "\n").map(String.init).filter { !$0.contains("@") })
    }
}
