// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

@Suite("Fork")
struct ForkTests {
    @Test("A forked child shares no key memory with its parent, and works")
    func fork() throws {
        let home = try TemporaryDirectory()
        let outcome = try Executable.run("ProofWorker", ["fork"], home: home.path)
        #expect(outcome.status == 0, "step \(outcome.status): \(outcome.error)")
    }
}
