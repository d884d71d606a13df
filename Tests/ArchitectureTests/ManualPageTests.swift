// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The packages contain the pages that Scripts/manual-pages makes: a page that no package installs ends
/// the build of the packages.
@Suite("Manual pages")
struct ManualPageTests {
    @Test("The package latchkey installs a page for each family of commands")
    func families() throws {
        let file = try #require(
            Sources.files(of: "LatchkeyCommands").first { $0.name == "CommandFamily.swift" })
        let cases = file.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("case ") }.map { $0.dropFirst("case ".count) }
        let families = cases.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(families.contains("daily") && families.contains("macos"))
        let installed = try String(
            contentsOf: Sources.root.appending(path: "Packaging/debian/latchkey.install"), encoding: .utf8)
        // The page of macOS's commands is that of security.
        for family in families {
            let page = family == "macos" ? "security.1" : "latchkey-\(family).1"
            #expect(installed.split(separator: "\n").contains("usr/share/man/man1/\(page)"), "\(page)")
        }
    }
}
