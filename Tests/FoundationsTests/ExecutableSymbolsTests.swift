// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

@testable import LinuxSystem

/// Symbols of ELF files: those of real programs, and files that are made to confuse.
@Suite("Symbols of executables")
struct ExecutableSymbolsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func symbols(_ bytes: [UInt8], _ names: Set<String> = ["one", "two", "three"]) throws -> ExecutableSymbols {
        let path = "\(directory.path)/file"
        try Data(bytes).write(to: URL(filePath: path))
        return try ExecutableSymbols(of: FilePath(path), names: names)
    }

    /// An ELF file with a symbol table, and the names "one" (strong), "two" (weak) and "three" (undefined).
    private struct File {
        var kind: UInt32 = 2
        var link: UInt32 = 2
        var symbolOffset: UInt64 = 64
        var symbolLength: UInt64 = 72
        var textLength: UInt64 = 15
        var names: [UInt32] = [1, 5, 9]
        var sections: UInt16 = 3

        var bytes: [UInt8] {
            func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
                withUnsafeBytes(of: value.littleEndian, Array.init)
            }
            let texts = Array("\0one\0two\0three\0".utf8)
            let tableStart = 64 + 72 + 16
            var header: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 57)
            header.replaceSubrange(40..<48, with: number(UInt64(tableStart)))
            header.replaceSubrange(58..<60, with: number(UInt16(64)))
            header.replaceSubrange(60..<62, with: number(sections))
            let bindings: [(UInt8, UInt16)] = [(0x12, 1), (0x22, 1), (0x12, 0)]
            let symbols = zip(names, bindings).flatMap { name, binding in
                number(name) + [binding.0, 0] + number(binding.1) + [UInt8](repeating: 0, count: 16)
            }
            func section(_ kind: UInt32, _ offset: UInt64, _ length: UInt64, _ link: UInt32) -> [UInt8] {
                number(UInt32(0)) + number(kind) + number(UInt64(0)) + number(UInt64(0)) + number(offset)
                    + number(length)
                    + number(link) + number(UInt32(0)) + number(UInt64(0)) + number(UInt64(0))
            }
            return header + symbols + texts + [0] + section(0, 0, 0, 0)
                + section(kind, symbolOffset, symbolLength, link) + section(3, 136, textLength, 0)
        }
    }

    @Test("Strong, weak and undefined symbols are told apart, and others are left out")
    func bindings() throws {
        let found = try symbols(File().bytes, ["one", "two", "three", "four", "on"])
        #expect(found.isComplete && found.bindings == ["one": .strong, "two": .weak, "three": .undefined])
        var file = File()
        file.kind = 11
        #expect(try !symbols(file.bytes).isComplete)
        file.kind = 1
        #expect(try symbols(file.bytes).bindings.isEmpty)
    }

    @Test("A program with symbols and a stripped one")
    func real() throws {
        let program = "\(directory.path)/program"
        let source = "\(directory.path)/program.c"
        let text =
            "__attribute__((weak)) int soft(void) { return 1; } int puts(const char *); int hard(void) { return puts(\"\"); } int main(void) { return soft() + hard(); }"
        try Data(text.utf8).write(to: URL(filePath: source))
        let names: Set<String> = ["soft", "hard", "puts", "absent"]
        let path = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
        let compiler = try Executable.run(
            "/usr/bin/env", ["clang", source, "-o", program], home: "", environment: path)
        try #require(compiler.status == 0, "\(compiler)")
        var found = try ExecutableSymbols(of: FilePath(program), names: names)
        #expect(found.isComplete && found.bindings["soft"] == .weak && found.bindings["hard"] == .strong)
        #expect(found.bindings["absent"] == nil)
        #expect(try Executable.run("/usr/bin/strip", [program], home: "").status == 0)
        found = try ExecutableSymbols(of: FilePath(program), names: names)
        #expect(!found.isComplete && found.bindings == ["puts": .undefined])
    }

    @Test("Every shortened file is refused")
    func shortened() throws {
        let whole = File().bytes
        for count in 0..<whole.count {
            #expect(throws: ExecutableSymbols.FormatError.self, "\(count)") { try symbols(Array(whole.prefix(count))) }
        }
    }

    @Test("Lengths, offsets and links outside of the file are refused, and names outside of the texts are not found")
    func outside() throws {
        let changes: [(inout File) -> Void] = [
            { $0.symbolOffset = .max }, { $0.symbolOffset = 1 << 63 }, { $0.symbolLength = .max },
            { $0.symbolLength = 73 },
            { $0.symbolLength = 1 << 40 }, { $0.link = 3 }, { $0.link = .max }, { $0.textLength = .max },
            { $0.sections = 4 }, { $0.sections = .max },
        ]
        for (index, change) in changes.enumerated() {
            var file = File()
            change(&file)
            #expect(throws: ExecutableSymbols.FormatError.self, "\(index)") { try symbols(file.bytes) }
        }
        for names: [UInt32] in [[15, 15, 15], [.max, 1 << 31, 16]] {
            var file = File()
            file.names = names
            #expect(try symbols(file.bytes).bindings.isEmpty)
        }
        // A name without its end.
        var file = File()
        file.textLength = 14
        #expect(try symbols(file.bytes).bindings["three"] == nil)
        // Without a number in the header, the first section has it: 0.
        file.sections = 0
        #expect(try symbols(file.bytes).bindings.isEmpty)
    }

    @Test("Other files are refused with a reason")
    func others() throws {
        for bytes: [UInt8] in [
            [], Array("#!/bin/sh\necho program, long enough for a header of sixty-four bytes\n".utf8),
        ] {
            let error = #expect(throws: ExecutableSymbols.FormatError.self) { try symbols(bytes) }
            #expect(error?.description.contains("ELF") == true)
        }
        var small = File().bytes
        small[4] = 1
        #expect(throws: ExecutableSymbols.FormatError.self) { try symbols(small) }
        #expect(throws: ExecutableSymbols.FormatError.self) {
            try ExecutableSymbols(of: FilePath(directory.path), names: [])
        }
        #expect(throws: SystemError.self) { try ExecutableSymbols(of: "/nonexistent", names: []) }
    }
}
