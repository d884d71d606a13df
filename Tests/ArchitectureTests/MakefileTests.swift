// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The entry points of a developer: make, and the scripts.
@Suite("Makefile")
struct MakefileTests {
    @Test("The rules of make are included, and no line of them is longer than 120 columns")
    func lines() throws {
        let files = try Makefiles.all()
        #expect(Set(files.map(\.path)).isSuperset(of: ["Makefile", "Scripts/check.mk", "Packaging/install.mk"]))
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
        #expect(lines.count < 24, "\(text)")
        #expect(lines.filter { $0.count > 80 } == [])
        let described = try Makefiles.text().matches(of: #/(?m)^([a-z-]+):.*#[#-] /#).map { String($0.1) }
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
        for target in try Makefiles.text().matches(of: #/(?m)^([a-z-]+):.*#[#-] (.+)$/#) where target.1 != "help" {
            let words = ["  \(target.1)", String(target.2)]
            #expect(lines.contains { $0.hasPrefix("\(words[0]) ") && $0.hasSuffix(words[1]) }, "\(target.1)")
        }
    }

    @Test("Every script stands in the folder of its purpose, can be run, and is named by another file")
    func scripts() throws {
        let folders = ["Scripts", "Packaging", ".ci", ".github", "Documentation", "Tests/SecretServiceTests"]
        let files = try Makefiles.all() + folders.flatMap { try Self.files(below: $0) }
        let purposes = ["build", "check", "demonstrate", "measure"]
        var count = 0
        for purpose in purposes {
            let folder = Sources.root.appending(path: "Scripts/\(purpose)")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                count += 1
                let path = "Scripts/\(purpose)/\(name)"
                if !["glossary-exceptions", "tls-lab", "secret_service_judges"].contains(name) {
                    #expect(FileManager.default.isExecutableFile(atPath: folder.appending(path: name).path), "\(path)")
                }
                let others = files.filter { !$0.path.hasPrefix(path) }
                let isNamed = others.contains { $0.text.contains(path) || $0.text.contains("\")/\(name)") }
                #expect(isNamed || Self.ofOthers.contains(name), "\(path)")
            }
        }
        #expect(count > 40)
        let scripts = Sources.root.appending(path: "Scripts").path
        let rest = try FileManager.default.contentsOfDirectory(atPath: scripts).filter { !$0.contains(".") }
        #expect(rest.sorted() == purposes)
    }

    /// Those that a loop in a recipe runs, or another script imports or starts beside itself.
    private static let ofOthers = [
        "mutual-tls", "token-service", "trust-delegate", "webauthn-verify", "secret_service_judges",
    ]

    private func make(_ words: String...) throws -> (status: Int32, output: String, errors: String) {
        try run("/usr/bin/make", ["--no-print-directory", "-C", Sources.root.path] + words)
    }

    private static func files(below path: String) throws -> [Makefiles.File] {
        let directory = Sources.root.appending(path: path)
        return try FileManager.default.subpathsOfDirectory(atPath: directory.path).compactMap { name in
            guard let text = try? String(contentsOf: directory.appending(path: name), encoding: .utf8) else {
                return nil
            }
            return Makefiles.File(path: "\(path)/\(name)", text: text)
        }
    }
}
