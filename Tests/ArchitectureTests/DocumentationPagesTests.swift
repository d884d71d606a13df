// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The catalogs of docc, compared with the sources. `make docs` builds them.
@Suite("Documentation pages")
struct DocumentationPagesTests {
    private static let modules = [
        "Latchkey", "LatchkeyPayloads", "LatchkeySecurity", "LatchkeyLocalAuthentication",
    ]

    private static func pages(of module: String) throws -> [String: String] {
        let folder = Sources.root.appending(path: "Sources/Faces/\(module)/\(module).docc")
        var pages: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".md") {
            pages[name] = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        return pages
    }

    @Test("Every public declaration of a module with pages has a comment", arguments: modules)
    func comments(_ module: String) throws {
        var count = 0
        for file in try Sources.files(of: module) where file.name != "Exports.swift" {
            let lines = file.text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for (index, line) in lines.enumerated()
            where line.contains(
                /^(@discardableResult )?(nonisolated\(unsafe\) )?(public|open) .*\b(let|var|func|init|struct|class|enum|protocol|typealias)\b/
            ) {
                count += 1
                // Attributes, also in several lines, are between the comment and the declaration.
                let above = lines[..<index].reversed().prefix { line in
                    !line.isEmpty && !line.hasSuffix("{") && !line.hasSuffix("}")
                        && !line.contains(/^(nonisolated|public|open|@discardableResult public)/)
                }
                #expect(above.contains { $0.hasPrefix("///") }, "\(file.name):\(index + 1) \(line)")
            }
        }
        #expect(count > 100)
    }

    @Test("Every public name is on a page of its module", arguments: modules)
    func names(_ module: String) throws {
        let text = try Self.pages(of: module).values.joined(separator: "\n")
        var count = 0
        // The constants of these are on the page that `make docs` makes of them.
        for file in try Sources.files(of: module) where !file.name.hasSuffix("StatusConstants.swift") {
            for line in file.text.split(separator: "\n") {
                guard
                    let match = line.firstMatch(
                        of:
                            /^(?:@discardableResult )?(?:nonisolated\(unsafe\) )?(?:@_exported )?(?:public|open) (?:final )?(?:import )?(?:let|func|struct|class|enum|protocol|typealias) (?:\w+\.)?(\w+)/
                    )
                else { continue }
                count += 1
                let name = String(match.1)
                let isListed = text.contains("``\(name)``") || text.contains("``\(name)(")
                // Functions of Foundation's modules are listed with them.
                #expect(isListed, "\(file.name) declares \(name)")
            }
        }
        #expect(count > (module == "LatchkeyPayloads" ? 20 : 30))
    }

    @Test("Every line of Swift in an article is in a test", arguments: modules)
    func code(_ module: String) throws {
        let tests = [
            "Latchkey": "LatchkeyTests", "LatchkeyPayloads": "LatchkeyPayloadsTests",
            "LatchkeySecurity": "SecurityTests",
            "LatchkeyLocalAuthentication": "LocalAuthenticationTests",
        ]
        let path = Sources.root.appending(path: "Tests/\(try #require(tests[module]))/ArticleTests.swift")
        let compiled = Set(
            try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        var count = 0
        for (name, text) in try Self.pages(of: module) {
            for line in Self.code(of: text) {
                count += 1
                #expect(compiled.contains(line), "\(name): \(line)")
            }
        }
        #expect(count > (module == "LatchkeyPayloads" ? 4 : 10))
    }

    @Test("Every line of Swift in README and the guides is in a test or an example")
    func guides() throws {
        var compiled: Set<Substring> = []
        for folder in ["Tests", "Examples"] {
            let root = Sources.root.appending(path: folder).path
            for path in try FileManager.default.subpathsOfDirectory(atPath: root) where path.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
                compiled.formUnion(text.split(separator: "\n").map { $0.drop { $0 == " " } })
            }
        }
        var count = 0
        let guides = try FileManager.default.contentsOfDirectory(
            atPath: Sources.root.appending(path: "Documentation/Guides").path)
        for page in ["README.md"] + guides.map({ "Documentation/Guides/\($0)" }) where page.hasSuffix(".md") {
            let text = try String(contentsOf: Sources.root.appending(path: page), encoding: .utf8)
            // The parts of a manifest are lines of `make consumer` and `make siblings`.
            for line in Self.code(of: text) where !line.contains(/^(\.package\(|dependencies: |swiftSettings: |\/\/)/) {
                count += 1
                let code = line.replacing(/[ ]+\/\/ .*$/, with: "")
                // The reader fills in `…`.
                let isCompiled =
                    code.hasSuffix(" { … }")
                    ? compiled.contains { $0.hasPrefix(code.dropLast(" … }".count)) } : compiled.contains(code[...])
                #expect(isCompiled, "\(page): \(code)")
            }
        }
        #expect(count > 25)
    }

    /// The lines of Swift of a page, without indentation.
    private static func code(of page: String) -> [String] {
        var (isSwift, lines): (Bool, [String]) = (false, [])
        for line in page.components(separatedBy: "\n") {
            let code = line.trimmingCharacters(in: .whitespaces)
            if code.hasPrefix("```") {
                isSwift = code == "```swift"
            } else if isSwift, !code.isEmpty {
                lines.append(code)
            }
        }
        return lines
    }
}
