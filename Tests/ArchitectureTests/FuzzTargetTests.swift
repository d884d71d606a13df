// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The fuzzers. They are built only when they run, so this suite finds the parts that are missing.
@Suite("Fuzz targets")
struct FuzzTargetTests {
    @Test("Each target has a main function, a name for make, inputs to begin with, and files that exist")
    func complete() throws {
        let manifest = try text("Fuzz/Package.swift")
        let targets = manifest.matches(of: /name: "(\w+Fuzzer)"/).map { String($0.1) }
        #expect(targets.count >= 14)
        let mains = try text("Fuzz/Sources/CFuzzerMain/entry.c").matches(of: /(?m)^MAIN_OF\((\w+)\)$/)
        #expect(Set(mains.map { String($0.1) }) == Set(targets))
        let makefile = try Makefiles.text().replacing("\\\n", with: "")
        let names = makefile.matches(of: /(?m)^FUZZER_([\w-]+) := (\w+)$/)
        #expect(Set(names.map { String($0.2) }) == Set(targets))
        let list = try #require(makefile.firstMatch(of: /(?m)^FUZZERS := (.+)$/)).1.split(separator: " ")
        #expect(Set(list) == Set(names.map(\.1)))
        for name in list {
            let seeds = try FileManager.default.contentsOfDirectory(atPath: path("Fuzz/Corpus/\(name)"))
            #expect(!seeds.isEmpty, "\(name)")
        }
        for entry in try #require(FileManager.default.enumerator(atPath: path("Fuzz/Sources"))) {
            // A link that leads nowhere does not exist.
            let file = path("Fuzz/Sources/\(entry)")
            #expect(FileManager.default.fileExists(atPath: file), "\(entry)")
        }
    }

    @Test("A linked module depends on the modules that the table allows it, and each fuzzer on its imports")
    func dependencies() throws {
        let manifest = try text("Fuzz/Package.swift")
        let entries = manifest.matches(of: #/name: "(\w+)",\s*dependencies: \[(.*?)\n? *\]/#.dotMatchesNewlines())
        let (edges, linked) = (ModuleTable().edges, Set(entries.map { String($0.1) }))
        for entry in entries {
            let name = String(entry.1)
            let declared = Set(entry.2.matches(of: /"(\w+)"/).map { String($0.1) })
            if let allowed = edges[name] {
                // Those of other packages are products.
                let own = allowed.filter { edges[$0] != nil }
                #expect(own.isSubset(of: declared), "\(name) lacks \(own.subtracting(declared).sorted())")
            } else {
                for file in try FileManager.default.contentsOfDirectory(atPath: path("Fuzz/Sources/\(name)"))
                where file.hasSuffix(".swift") {
                    let lines = try text("Fuzz/Sources/\(name)/\(file)").split(separator: "\n")
                    let imported = lines.compactMap { $0.firstMatch(of: /^(?:.* )?import (\w+)$/).map { String($0.1) } }
                    for module in imported where edges[module] != nil || module.hasPrefix("Keychain") {
                        #expect(declared.contains(module), "\(name)/\(file) imports \(module)")
                    }
                }
            }
        }
        #expect(linked.count > 25)
    }

    private func path(_ name: String) -> String { Sources.root.appending(path: name).path }

    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
