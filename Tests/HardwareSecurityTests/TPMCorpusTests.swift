// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/tpm: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of responses of a TPM, stored objects and attestations")
struct TPMCorpusTests {
    @Test("Every input of the corpus is read as it was written, or refused")
    func replay() throws {
        var (accepted, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("tpm") {
            let outcome = TPMInput.read(bytes)
            #expect(outcome.fault == nil, "\(name)")
            #expect(outcome.isAccepted == name.hasPrefix("good"), "\(name)")
            if outcome.isAccepted { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted >= 8 && refused >= 20, "\(accepted) accepted, \(refused) refused")
    }
}
