// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The two lists of redirected calls: that of CFoundationCalls, and the functions of LatchkeyRedirections.
@Suite("Symbols of redirected calls")
struct RedirectedSymbolTests {
    /// Returns the names of symbols after a prefix in the files of a directory of Sources.
    private func symbols(after prefix: String, in directory: String) throws -> [String] {
        let place = Sources.root.appending(path: "Sources/\(directory)")
        let files = try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
        return try files.filter { ["swift", "h"].contains($0.pathExtension) }.flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.split(separator: prefix).dropFirst().map { String($0.prefix { $0 != "\"" }) }
        }.sorted()
    }

    @Test("Each call that the linker redirects has one function, and no other has one")
    func lists() throws {
        let called = try symbols(after: ", \"$", in: "Foundations/CLatchkey/include")
        let functions = try symbols(after: "\"__wrap_$", in: "Faces/LatchkeyRedirections")
        #expect(called == functions)
        #expect(Set(called).count == called.count && called.count > 20)
    }

    @Test("Foundation's libraries of this toolchain have these symbols, and no other call of these kinds", .long)
    func toolchain() throws {
        let script = Sources.root.appending(path: "Scripts/build/redirections").path
        for kind in ["shared", "static"] {
            let outcome = try Executable.run(
                script, ["check", kind], home: "",
                environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
            #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        }
    }

    @Test(
        "The modules of a consumer name no shared file manager: the linker would warn about them",
        arguments: [
            "Engines", "Foundations", "Model", "Service", "Faces/Latchkey", "Faces/LatchkeySecurity",
        ])
    func ownCalls(_ directory: String) throws {
        let place = Sources.root.appending(path: "Sources/\(directory)")
        let files = try #require(FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            #expect(try !String(contentsOf: file, encoding: .utf8).contains("FileManager.default"), "\(file.path)")
        }
    }
}
