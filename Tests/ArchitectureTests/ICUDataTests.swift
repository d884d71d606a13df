// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The small package of ICU's data, in a program that uses Foundation (Documentation/Decisions/0073-icu-data.md).
@Suite("ICU's data", .enabled(if: staticLibraries != nil))
struct ICUDataTests {
    private static let script = Sources.root.appending(path: "Scripts/build/icu-data").path

    @Test("Dates, zones, numbers, expressions and addresses are as with all of the data")
    func same() throws {
        try FoundationProgram.inDirectory { program in
            let object = program.path("icu-data.o")
            let made = try run(Self.script, ["\(#require(staticLibraries))/lib_FoundationICU.a", object])
            #expect(made.status == 0, "\(made)")
            let symbol = made.output.trimmingCharacters(in: .newlines)
            try program.build("whole")
            try program.build("small", ["-Xlinker", "--wrap=\(symbol)", "-Xlinker", object])
            #expect(try program.size("whole") - program.size("small") > 25_000_000)
            #expect(try program.output("small") == program.output("whole"))
        }
    }

    @Test("A file that is no such library is refused")
    func refuses() throws {
        try FoundationProgram.inDirectory { program in
            let (library, object) = (program.path("library.a"), program.path("icu-data.o"))
            try Data("!<arch>\n".utf8).write(to: URL(filePath: library))
            let outcome = try run(Self.script, [library, object])
            #expect(outcome.status != 0 && outcome.output.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: object))
        }
    }
}
