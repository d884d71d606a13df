// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import LatchkeyCommands
import Testing

/// The programs that `latchkey` runs.
@Suite("Programs beside latchkey")
struct CompanionProgramTests {
    @Test("The Debian package that a hint names has the program", arguments: CompanionProgram.allCases)
    func package(_ program: CompanionProgram) throws {
        let list = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Packaging/debian/\(program.debianPackage).install")
        let lines = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
        let isDaemon = [.secretService, .daemon].contains(program)
        #expect(lines.contains(isDaemon ? "usr/libexec/latchkey" : "usr/bin/\(program.rawValue)"))
    }
}
