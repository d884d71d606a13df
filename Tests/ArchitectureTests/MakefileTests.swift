// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The entry points of a developer: make, and the scripts.
@Suite("Makefile")
struct MakefileTests {
    @Test("The rules of make are included, and no line of them is longer than 120 columns")
    func lines() throws {
        let files = try Makefiles.all()
        #expect(files.count == 6)
        for file in files {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                #expect(line.count <= 120, "\(file.path):\(number + 1)")
            }
        }
    }

    @Test("make help is one screen of 24 lines and 80 columns, and names every target that is described")
    func help() throws {
        let (status, text, errors) = try make("help")
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        let lines = text.split(separator: "\n")
        #expect(lines.count <= 24, "\(text)")
        #expect(lines.filter { $0.count > 80 } == [])
        let described = try Makefiles.text().matches(of: #/(?m)^([a-z-]+):.*#[#:] /#).map { String($0.1) }
        #expect(described.count > 40 && Set(described).count == described.count)
        let words = Set(text.split { " ,\n".contains($0) }.map(String.init))
        #expect(described.filter { $0 != "help" && !words.contains($0) } == [])
    }

    @Test("make help ALL=1 has a line for every target that is described, in 120 columns")
    func all() throws {
        let (status, text, _) = try make("help", "ALL=1")
        #expect(status == 0)
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 120 })
        for target in try Makefiles.text().matches(of: #/(?m)^([a-z-]+):.*#[#:] (.+)$/#) where target.1 != "help" {
            let words = ["  \(target.1)", String(target.2)]
            #expect(lines.contains { $0.hasPrefix("\(words[0]) ") && $0.hasSuffix(words[1]) }, "\(target.1)")
        }
    }

    @Test("Every script stands in the folder of its purpose, can be run, and is named by another file")
    func scripts() throws {
        let folder = Sources.root.appending(path: "Scripts")
        var texts = try Makefiles.text()
        for path in ["Scripts", "Packaging", ".ci", ".github", "Documentation", "Tests/SecretServiceTests"] {
            texts += try text(below: path)
        }
        var count = 0
        for purpose in ["build", "check", "measure", "demonstrate"] {
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: purpose).path) {
                count += 1
                let path = folder.appending(path: "\(purpose)/\(file)").path
                if !["glossary-exceptions", "tls-lab", "secret_service_judges"].contains(file) {
                    #expect(FileManager.default.isExecutableFile(atPath: path), "\(purpose)/\(file)")
                }
                let names = ["Scripts/\(purpose)/\(file)", "\")/\(file)", "&& pwd)/\(file)", "/$$example", file]
                #expect(names.prefix(3).contains { texts.contains($0) } || Self.ofOthers.contains(file), "\(file)")
            }
        }
        #expect(count > 40)
        let others = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.contains(".") }
        #expect(others.sorted() == ["build", "check", "demonstrate", "measure"])
    }

    /// Those that a loop in a recipe runs, or another script imports.
    private static let ofOthers = ["mutual-tls", "token-service", "trust-delegate", "secret_service_judges"]

    private func make(_ words: String...) throws -> (status: Int32, output: String, errors: String) {
        try run("/usr/bin/make", ["--no-print-directory", "-C", Sources.root.path] + words)
    }

    private func text(below path: String) throws -> String {
        let directory = Sources.root.appending(path: path)
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        return names.compactMap { try? String(contentsOf: directory.appending(path: $0), encoding: .utf8) }.joined()
    }
}
