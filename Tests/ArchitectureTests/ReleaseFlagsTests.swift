// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Documentation/Decisions/0049-fast-start.md.
@Suite("Release flags")
struct ReleaseFlagsTests {
    @Test("The flags of a release ask for neither fixed addresses nor a static libcrypto")
    func flags() throws {
        let (status, text, _) = try run(Sources.root.appending(path: "Scripts/build/release-flags").path, [])
        #expect(status == 0)
        let flags = text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(flags.contains("-disable-concrete-type-metadata-mangled-name-accessors"))
        for refused in ["-no-pie", "-static-executable", "-static", "-Ounchecked", "-enforce-exclusivity=unchecked"] {
            #expect(!flags.contains(refused))
        }
        #expect(!text.contains("libcrypto") && !text.contains("libsqlite3"))
    }

    @Test("The executables that are measured are built like those that are installed")
    func sameFlags() throws {
        let makefile = try Makefiles.text()
        // Those of the two benchmarks, and everything that is installed.
        let builds = makefile.split(separator: "\n").filter { $0.contains("./Scripts/build/products $(RELEASE) -- ") }
        #expect(builds.count == 3)
        #expect(!makefile.contains("swift build $(RELEASE)"))
        #expect(!makefile.contains("$(TRAITS) -c release --static-swift-stdlib --product"))
    }
}
