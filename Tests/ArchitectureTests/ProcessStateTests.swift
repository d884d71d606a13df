// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The environment and the arguments of the process are each read in one place.
@Suite("Environment and arguments")
struct ProcessStateTests {
    @Test(
        "Only secure_getenv reads the environment, and arguments are read where they are available without /proc",
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
