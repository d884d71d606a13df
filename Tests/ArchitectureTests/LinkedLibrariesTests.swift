// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The libraries that the executables load (Documentation/Decisions/0008-foundation-essentials.md).
@Suite("Linked libraries")
struct LinkedLibrariesTests {
    @Test(
        "No executable but latchkey-tls and latchkey-lint links the whole of Foundation, or ICU",
        arguments: ["latchkey", "latchkeyd"])
    func foundation(_ executable: String) throws {
        let libraries = try Self.libraries(of: executable)
        #expect(libraries.contains("libFoundationEssentials.so"))
        #expect(libraries.isDisjoint(with: Self.wholeFoundation), "\(libraries.sorted())")
    }

    @Test("These two link them, so that the names are the right ones", arguments: ["latchkey-tls", "latchkey-lint"])
    func others(_ executable: String) throws {
        #expect(try Self.libraries(of: executable).isSuperset(of: Self.wholeFoundation))
    }

    private static let wholeFoundation: Set<String> = ["libFoundation.so", "libFoundationInternationalization.so"]

    /// Returns the libraries that an executable names. These libraries link the libraries with ICU.
    private static func libraries(of executable: String) throws -> Set<String> {
        let listed = try Executable.run("/usr/bin/readelf", ["-d", Executable.path(executable)], home: "/nonexistent")
        return Set(listed.output.matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) })
    }
}
