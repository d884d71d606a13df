// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/keyrings: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of keyrings of gnome-keyring")
struct KeyringCorpusTests {
    @Test("Every input of the corpus is read, or refused")
    func replay() throws {
        var (accepted, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("keyrings") {
            let outcome = KeyringInput.read(bytes)
            #expect(outcome.fault == nil, "\(name)")
            #expect(outcome.isAccepted == name.hasPrefix("good"), "\(name)")
            if outcome.isAccepted { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted >= 6 && refused >= 10, "\(accepted) accepted, \(refused) refused")
    }
}
