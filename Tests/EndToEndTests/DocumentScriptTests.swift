// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The scripts that check the words and the figures of the repository, on small copies of it.
@Suite("Scripts for documents")
struct DocumentScriptTests {
    // MARK: glossary

    private static let glossary = "# Glossary\n```tsv\n\\bwrongword\\b\trightword\n\\b(other)word\\b\ta word\n```\n"

    @Test(
        "A word that must not come back is found in every kind of file, in any case",
        arguments: [
            "Sources/Model/A.swift", "Tests/A.swift", "Examples/B/A.swift", "README.md", "Documentation/A.md",
            "Makefile", "Package.swift", "Scripts/a", "Packaging/a.conf", ".github/a.yml", "Sources/C/c.h",
            "Sources/P/a.proto",
        ])
    func words(_ path: String) throws {
        let copy = try WorkingCopy(
            "check/glossary", ["GLOSSARY.md": Self.glossary, path: "one\n// a WrongWord\n"], interpreter: Self.python)
        let outcome = try copy.run()
        #expect(outcome.status == 1)
        #expect(outcome.printed.contains("\(path):2:// a WrongWord    -> rightword\n"), "\(outcome)")
    }

    @Test("Generated code, the glossary itself and build directories are not searched, and bytes that are not text are")
    func searched() throws {
        let copy = try WorkingCopy(
            "check/glossary",
            [
                "GLOSSARY.md": Self.glossary, "A.pb.swift": "wrongword", ".build/A.swift": "wrongword",
                "A.swift": "right",
            ], interpreter: Self.python)
        #expect(try copy.run().status == 0)
        try copy.write(Data([0, 0xFF, 0x0A]) + Data("wrongword\n".utf8), to: "A.swift")
        #expect(try copy.run().status == 1)
    }

    @Test(
        "A check that could find nothing fails with a reason",
        arguments: [
            ("```tsv\n\\b(wrong\tright\n```\n", "A.swift", "not a regular expression"),
            ("```tsv\nwrong right\n```\n", "A.swift", "expected EXPRESSION<TAB>REPLACEMENT"),
            ("```tsv\n```\n", "A.swift", "lists no words"),
            ("no table\n", "A.swift", "lists no words"),
            ("```tsv\nwrong\tright\n```\n", "A.txt", "no files to search"),
        ])
    func broken(_ glossary: String, _ file: String, _ reason: String) throws {
        let outcome = try WorkingCopy(
            "check/glossary", ["GLOSSARY.md": glossary, file: "text\n"], interpreter: Self.python
        ).run()
        #expect(outcome.status == 1 && outcome.printed.contains(reason), "\(outcome)")
    }

    @Test(
        "An exception needs a path and a text, counts without a line end, and must be needed",
        arguments: [
            ("A.swift\twrongword here", 0, ""), ("A.swift\tanother text\n", 1, "not needed: A.swift: another text"),
            ("A.swift\n", 1, "expected PATH<TAB>TEXT"), ("A.swift\t\n", 1, "expected PATH<TAB>TEXT"),
            ("B.swift\twrongword here\n", 1, "not needed: B.swift"),
        ] as [(String, Int32, String)])
    func exceptions(_ list: String, _ status: Int32, _ reason: String) throws {
        let copy = try WorkingCopy(
            "check/glossary",
            ["GLOSSARY.md": Self.glossary, "A.swift": "a wrongword here\n", "Scripts/check/glossary-exceptions": list],
            interpreter: Self.python)
        let outcome = try copy.run()
        #expect(outcome.status == status && (reason.isEmpty || outcome.printed.contains(reason)), "\(outcome)")
    }

    @Test(
        "A sentence with two stand-ins for nouns is an error, in comments, titles and documents",
        arguments: [
            ("A.swift", "// Does what it\n// does to what is there.\n", 1),
            ("A.swift", "// Does what it\n\n// does to what is there.\n", 0),
            ("A.swift", "/// What it is. What it does.\n", 0),
            ("A.swift", "// `what` of what\nlet what = \"what\"\n", 0),
            ("A.swift", "@Test(\n    \"What is said is what happens\") func a() {}\n", 1),
            ("A.md", "Names what\nit does to what is there.\n", 1), ("A.md", "| what | which |\n", 0),
            ("A.md", "```sh\nwhat what\n```\n", 0),
            ("Scripts/a", "# Does what it does to what is there.\nwhat what\n", 1),
        ] as [(String, String, Int32)])
    func sentences(_ path: String, _ text: String, _ status: Int32) throws {
        let outcome = try WorkingCopy(
            "check/glossary", ["GLOSSARY.md": Self.glossary, path: text], interpreter: Self.python
        ).run()
        #expect(outcome.status == status, "\(outcome)")
        #expect(status == 0 || outcome.printed.contains("two stand-ins in one sentence"), "\(outcome)")
    }

    @Test(
        "More than four stand-ins in 1,000 words of a module are an error",
        arguments: [(2, 0), (3, 1)] as [(Int, Int32)])
    func shares(_ count: Int, _ status: Int32) throws {
        let comment = String(repeating: "// A word.\n\n", count: 300) + String(repeating: "// What.\n\n", count: count)
        let copy = try WorkingCopy(
            "check/glossary", ["GLOSSARY.md": Self.glossary, "Sources/Model/M/A.swift": comment],
            interpreter: Self.python)
        let outcome = try copy.run()
        #expect(outcome.status == status, "\(outcome)")
        #expect(outcome.printed.contains("Sources/Model/M: 3 stand-ins in 603 words") == (status == 1), "\(outcome)")
        #expect(try copy.run("--count").printed.contains("\t\(count)\t"))
    }

    private static let python = "/usr/bin/python3"

    // MARK: figures

    private static let layers = [
        "Sources/Foundations", "Sources/Model", "Sources/Engines", "Sources/Service", "Sources/Faces",
        "Sources/Executables", "Tests",
    ]

    /// Eleven lines with two functions, of five lines and of one; a requirement is not counted.
    private static let source = """
        protocol P {
            func requirement()
        }
        struct A {
            @_spi(Testing) public func long(
                _ value: Int
            ) -> Int {
                value
            }
            init() {}
        }

        """

    @Test("The figures are written between their markers; --check fails until they are")
    func figures() throws {
        let page = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n"
        var files = ["CONTRIBUTING.md": page]
        for layer in Self.layers { files["\(layer)/M/A.swift"] = Self.source }
        let copy = try WorkingCopy("check/figures", files)
        #expect(try copy.run("--check").status == 1)
        #expect(try copy.text("CONTRIBUTING.md") == page)
        #expect(try copy.run().status == 0)
        let rows = ["Foundations", "Model", "Engines", "Service", "Faces", "Executables", "Tests"].map {
            "| \($0) | 1 | 11 | 11 | `A.swift`, 11 | 2 | 1 | 5 |\n"
        }
        let written = try copy.text("CONTRIBUTING.md")
        #expect(written.hasPrefix("before\n<!-- figures -->\n| Layer | Files |"), "\(written)")
        #expect(written.hasSuffix("|\n\(rows.joined())<!-- end of figures -->\nafter\n"), "\(written)")
        #expect(try copy.run("--check").status == 0)
    }

    @Test(
        "If a marker is missing, repeated or in the wrong place, nothing is written",
        arguments: [
            "before\n<!-- figures -->\nold\nafter\n", "before\n<!-- end of figures -->\nafter\n", "before\n",
            "<!-- end of figures -->\n<!-- figures -->\nafter\n",
            "<!-- figures -->\n<!-- figures -->\n<!-- end of figures -->\nafter\n",
        ])
    func markers(_ page: String) throws {
        var files = ["CONTRIBUTING.md": page]
        for layer in Self.layers { files["\(layer)/M/A.swift"] = "1\n" }
        let copy = try WorkingCopy("check/figures", files)
        let outcome = try copy.run()
        #expect(outcome.status == 1 && outcome.printed.contains("CONTRIBUTING.md: "), "\(outcome)")
        #expect(try copy.text("CONTRIBUTING.md") == page)
    }

    // MARK: aims

    @Test(
        "The verdict on an aim in instructions is computed, and words beside it are refused",
        arguments: [
            ("", "150", 0, "| fast | met: 1.50 |"), ("", "250", 0, "| fast | **missed**: 2.50 |"),
            ("missed: 2.50 in a later run", "150", 1, "is computed"),
            ("met: 1.50 when recorded", "250", 1, "is computed"), ("not settled", "150", 1, "is computed"),
        ] as [(String, String, Int32, String)])
    func aims(_ words: String, _ count: String, _ status: Int32, _ expected: String) throws {
        let copy = try WorkingCopy(
            "measure/aims",
            [
                "Benchmarks/aims.tsv": "source\taim\treached\ninstructions:add:2\tfast\t\(words)\n",
                "Benchmarks/instructions.tsv": "call\traw\tfloor\tlatchkey\nadd\t1\t100\t\(count)\n",
                "Documentation/Performance.md": "<!-- aims -->\n<!-- end of aims -->\n",
            ], interpreter: "/usr/bin/python3")
        let outcome = try copy.run()
        let text = status == 0 ? try copy.text("Documentation/Performance.md") : outcome.printed
        #expect(outcome.status == status && text.contains(expected), "\(outcome) \(text)")
    }

    // MARK: symbols

    private static let symbolFiles = [
        "Sources/Faces/LatchkeySecurity/A.swift": """
        /// A comment with public func inComment().
        public func SecA(_ a: Int) -> Int { a }
        nonisolated(unsafe) public let kSecB: CFString = "code"
        func hidden() {}
        public struct SecC {
            public static let member = 1
            static let inner = 2
        }

        """,
        "Tests/SomeTests/ATests.swift": "let called = SecA(1)\nlet query = [\"code\": 1]\n// hidden\n",
    ]
    private static let symbolHead = "name\tmodule\tkind\tstatus\tnote\ttest\n"
    private static let symbolRows = [
        "SecA\tSecurity\tfunction\tworks\t\tSomeTests/ATests", "SecC\tSecurity\ttype\tdeclared\t\t",
        "SecC.member\tSecurity\tmember\tdeclared\ta note\t", "SecD\tSecurity\tfunction\tabsent\tmissing\t",
        "kSecB\tSecurity\tconstant\tworks\t\tSomeTests/ATests",
    ]

    private static func symbols(_ rows: [String]) throws -> WorkingCopy {
        var files = symbolFiles
        files["Documentation/symbols.tsv"] = symbolHead + rows.map { $0 + "\n" }.joined()
        return try WorkingCopy("check/symbols", files, interpreter: "/usr/bin/python3")
    }

    @Test("The page of symbols has the figures and the rows of the list")
    func symbolsPage() throws {
        let copy = try Self.symbols(Self.symbolRows)
        let outcome = try copy.run("\(copy.path)/Symbols.md")
        #expect(outcome.status == 0, "\(outcome)")
        let page = try copy.text("Symbols.md")
        #expect(page.contains("\n| Security | 2 | 2 | 0 | 1 | 5 | 80 % |\n"), "\(page)")
        #expect(page.contains("\n| `SecA` | works |  | `SomeTests/ATests` |\n"), "\(page)")
        #expect(page.contains("\nDeclared: `SecC`.\n"), "\(page)")
        #expect(try copy.run("--check").status == 0)
    }

    @Test(
        "A row that does not agree with the sources or the tests is an error",
        arguments: [
            (0, "SecA\tSecurity\tfunction\tabsent\tmissing\t", "SecA: listed as absent, but the sources declare it"),
            (0, "SecA\tSecurity\tfunction\tworks\t\t", "SecA: a name that works needs a test"),
            (0, "SecA\tSecurity\tfunction\tworks\t\tSomeTests/B", "SecA: the file SomeTests/B.swift does not exist"),
            (0, "SecA\tSecurity\tfunction\trefused\t\t", "SecA: a name that is refused needs a note"),
            (0, "SecA\tSecurity\tfunction\tgood\t\t", "status 'good' is not one of"),
            (0, "SecA\tSecurity", "expected 6 cells, found 2"),
            (0, "hidden\tSecurity\tfunction\tdeclared\t\t", "hidden: listed as declared, but the sources lack it"),
            (1, "SecC\tSecurity\ttype\tworks\t\tSomeTests/ATests", "SecC: the code of SomeTests/ATests.swift does not"),
            (2, "SecC.inner\tSecurity\tmember\tdeclared\t\t", "SecC.inner: listed as declared, but the sources"),
            (3, "SecA\tSecurity\tfunction\tdeclared\t\t", "SecA: the rows must be sorted"),
            (4, "kSecZ\tSecurity\tconstant\tabsent\tmissing\t", "kSecB: declared in LatchkeySecurity, and not in the"),
        ])
    func symbolErrors(_ index: Int, _ row: String, _ reason: String) throws {
        var rows = Self.symbolRows
        rows[index] = row
        let outcome = try Self.symbols(rows).run("--check")
        #expect(outcome.status == 1 && outcome.printed.contains(reason), "\(outcome)")
    }
}

/// A directory with one of the scripts and some files.
private struct WorkingCopy {
    private let directory: TemporaryDirectory
    private let script: String
    private let interpreter: String

    /// - Parameter files: the contents by path. An empty list of exceptions is added.
    init(_ script: String, _ files: [String: String], interpreter: String = "/bin/bash") throws {
        directory = try TemporaryDirectory()
        self.script = script
        self.interpreter = interpreter
        let original = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts/\(script)")
        try write(try Data(contentsOf: original.standardized), to: "Scripts/\(script)")
        try write(Data(), to: "Scripts/check/glossary-exceptions")
        for (path, text) in files { try write(Data(text.utf8), to: path) }
    }

    var path: String { directory.path }

    func write(_ content: Data, to path: String) throws {
        let file = URL(filePath: "\(directory.path)/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
    }

    func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(directory.path)/\(path)", encoding: .utf8)
    }

    /// Runs the script; returns its output, including errors.
    func run(_ arguments: String...) throws -> (status: Int32, printed: String) {
        let results = try TemporaryDirectory()
        let output = "\(results.path)/output"
        let process = try SpawnedProcess(
            [interpreter, "\(directory.path)/Scripts/\(script)"] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"], output: output)
        return (process.awaitExit(), try String(contentsOfFile: output, encoding: .utf8))
    }
}
