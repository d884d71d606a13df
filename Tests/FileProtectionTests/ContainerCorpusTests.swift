// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/containers: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of protected files")
struct ContainerCorpusTests {
    @Test("Every input of the corpus has one form and its own content, or is refused")
    func replay() throws {
        var (accepted, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("containers") {
            let outcome = ContainerInput.read(bytes)
            #expect(outcome.fault == nil, "\(name)")
            #expect(outcome.isAccepted == name.hasPrefix("good"), "\(name)")
            if outcome.isAccepted { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted >= 6 && refused >= 10, "\(accepted) accepted, \(refused) refused")
    }
}
