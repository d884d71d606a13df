// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The version of Latchkey is written once in the sources.
@Suite("Version")
struct VersionTests {
    @Test("The version is written once in the sources, and README, CHANGELOG and the Debian package have the same")
    func once() throws {
        let literal = /"(\d+\.\d+\.\d+)"/
        // The number of the first release never changes, and the version of SARIF is another one.
        let others = ["KeychainFormats.swift", "SARIFReport.swift"]
        let found = try Sources.all().filter { !others.contains($0.name) }.flatMap { file in
            file.withoutComments.matches(of: literal).map { (file.name, String($0.1)) }
        }
        #expect(found.map(\.0) == ["LatchkeyVersion.swift"], "\(found)")
        let version = try #require(found.first).1
        let readme = try String(contentsOf: Sources.root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains("/latchkey --from \(version) "))
        let changes = try String(contentsOf: Sources.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changes.firstMatch(of: /\n## (\d+\.\d+\.\d+)/)).1
        #expect(newest == version)
        // A build before the version, 0.2.0~git20270101, has its number too.
        let path = Sources.root.appending(path: "Packaging/debian/changelog")
        let packages = try String(contentsOf: path, encoding: .utf8)
        let packaged = try #require(packages.firstMatch(of: /latchkey \((\d+\.\d+\.\d+)/)).1
        #expect(packaged == version)
    }
}
