// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The table of modules in Package.swift: the modules below Sources, and the modules that each may see.
struct ModuleTable {
    /// The modules with Swift code, in the order of the table, and the modules that each may see.
    let lines: [(module: String, seen: Set<String>)]
    /// Modules without Swift code: C functions of our own, and the headers of libraries.
    let headers: Set<String>

    var edges: [String: Set<String>] { Dictionary(uniqueKeysWithValues: lines.map { ($0.module, $0.seen) }) }

    /// Reads the table. Without it, there are no modules; a test compares the modules with the directories.
    init() {
        let manifest = (try? String(contentsOf: Sources.root.appending(path: "Package.swift"), encoding: .utf8)) ?? ""
        let table = manifest.components(separatedBy: "let modules = \"\"\"\n").last?.components(separatedBy: "\"\"\"")
            .first
        // The headers of libcrypto have pkgConfig, and stand below the table.
        var (lines, headers) = (
            [(module: String, seen: Set<String>)](),
            Set(["CFoundationCalls", "CLatchkey", "CLoadedLibraries", "COpenSSL"])
        )
        var (directory, kind) = ("", "")
        for line in (table ?? "").replacing("\n          ", with: " ").split(separator: "\n") {
            let words = line.split { " ,.:".contains($0) }.map(String.init)
            guard line.hasPrefix("      ") else {
                if words.count > 1 { (directory, kind) = (words[0], words[1]) }
                continue
            }
            guard directory.hasPrefix("Sources/") else { continue }
            if kind == "headers" {
                headers.formUnion(words)
            } else if !headers.contains(words[0]) {
                lines.append((module: words[0], seen: Set(words.dropFirst())))
            }
        }
        (self.lines, self.headers) = (lines, headers)
    }
}
