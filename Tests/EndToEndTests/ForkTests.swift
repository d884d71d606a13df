// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Testing

@Suite("Fork")
struct ForkTests {
    @Test("A forked child shares no key memory with its parent, and can use the keychain")
    func fork() throws {
        let home = try TemporaryDirectory()
        let outcome = try Executable.run("ProofWorker", ["fork"], home: home.path)
        #expect(outcome.status == 0, "step \(outcome.status): \(outcome.error)")
    }

    @Test("A forked child that outlives its parent loses no writes")
    func outlivesItsParent() throws {
        let home = try TemporaryDirectory()
        let process = Executable.process("ProofWorker", ["fork-outlive"], home: home.path)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        // The end of the pipe means that the child has ended.
        let said = String(decoding: pipe.fileHandleForReading.awaitEnd(), as: UTF8.self)
        process.awaitExit()
        #expect(said == "done\n")
        let keychain = try ReopenedKeychain(home)
        let expected = ["parent", "child-first", "after-parent", "child-second", "after-second", "child-third"]
        #expect(Set(try keychain.accounts()) == Set(expected))
        keychain.service.close()
    }
}
