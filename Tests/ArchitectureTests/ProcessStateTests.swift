// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What a process is given by its parent is read in one place each.
@Suite("Environment and arguments")
struct ProcessStateTests {
    @Test(
        "the environment is read by secure_getenv alone, and arguments where they are also without /proc",
        arguments: [
            (#"\bgetenv\("#, []), (#"ProcessInfo"#, []), (#"CommandLine\."#, []),
            (#"\benviron\b"#, ["ChildProcess.swift"]),
            (#"latchkey_environment\("#, ["SecureEnvironment.swift"]),
            (#"latchkey_argument\("#, ["ProcessArguments.swift"]),
        ] as [(String, Set<String>)])
    func places(pattern: String, files: Set<String>) throws {
        let found = try Sources.all().filter {
            $0.withoutComments.range(of: pattern, options: .regularExpression) != nil
        }
        #expect(Set(found.map(\.name)) == files)
        let text = try String(
            contentsOf: Sources.root.appending(path: "Sources/Foundations/CLatchkey/CLatchkey.c"), encoding: .utf8)
        #expect(text.range(of: #"[^_]getenv\("#, options: .regularExpression) == nil)
    }
}
