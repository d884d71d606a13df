// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Several files name the required version of Swift.
@Suite("Swift version")
struct SwiftVersionTests {
    @Test(
        "Every package requires the version of Swift that README.md names",
        arguments: [
            "Package.swift", "Examples/AppPort/Package.swift", "Examples/CommandLine/Package.swift",
            "Examples/Connections/Package.swift", "Examples/KeychainHelpers/Package.swift",
            "Examples/LocalAuthentication/Package.swift", "Examples/MutualTLS/Package.swift",
            "Examples/Pinning/Package.swift", "Examples/ServerTrust/Package.swift", "Examples/Service/Package.swift",
            "Examples/Siblings/Package.swift", "Examples/SignIn/Package.swift",
            "Benchmarks/Package.swift", "Benchmarks/Transport/Package.swift", "Fuzz/Package.swift",
        ])
    func packages(_ path: String) throws {
        let readme = try String(contentsOf: Sources.root.appending(path: "README.md"), encoding: .utf8)
        let version = try #require(readme.firstMatch(of: /needs Swift ([0-9.]+) or newer/)?.1)
        let manifest = try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
        #expect(manifest.hasPrefix("// swift-tools-version: \(version)\n"))
    }
}
