// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The packages contain the pages that Scripts/build/manual-pages makes: a page that no package installs ends
/// the build of the packages.
@Suite("Manual pages")
struct ManualPageTests {
    @Test("The packages install a page for each family of commands")
    func families() throws {
        let file = try #require(
            Sources.files(of: "LatchkeyCommands").first { $0.name == "CommandFamily.swift" })
        let cases = file.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("case ") && !$0.hasPrefix("case .") }.map { $0.dropFirst("case ".count) }
        let families = cases.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(families.contains("daily") && families.contains("macos") && families.count < 12, "\(families)")
        // The page of macOS's commands is the page of security, in a package of its own.
        for family in families {
            let (package, page) =
                family == "macos" ? ("latchkey-security", "security.1") : ("latchkey", "latchkey-\(family).1")
            let installed = try String(
                contentsOf: Sources.root.appending(path: "Packaging/debian/\(package).install"), encoding: .utf8)
            #expect(installed.split(separator: "\n").contains("usr/share/man/man1/\(page)"), "\(page)")
        }
    }

    @Test("ENVIRONMENT has every variable that doctor --report shows")
    func environment() throws {
        let file = try #require(Sources.files(of: "LatchkeyCommands").first { $0.name == "DiagnosticReport.swift" })
        let names = Set(file.text.matches(of: /"((?:LATCHKEY|XDG)_[A-Z_]+)"/).map { String($0.1) })
        #expect(names.contains("LATCHKEY_LOG") && names.count >= 12)
        let page = try String(
            contentsOf: Sources.root.appending(path: "Packaging/man/environment.roff"), encoding: .utf8)
        for name in names { #expect(page.contains(name), "\(name)") }
    }

    @Test("EXIT STATUS has the values that no status has, and that of an unknown command")
    func exitStatus() throws {
        let page = try String(
            contentsOf: Sources.root.appending(path: "Packaging/man/exit-status.roff"), encoding: .utf8)
        for value in [1, 3, 126, 127] { #expect(page.contains("\n.B \(value)\n"), "\(value)") }
        #expect(page.contains("an unknown command is 1"))
    }
}
