// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/keybags: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of keybags and constraints")
struct KeybagCorpusTests {
    @Test("Every record of the corpus is decoded as it was written, or refused")
    func replay() throws {
        var (decoded, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("keybags") {
            let outcome = try KeybagInput.decode(bytes)
            #expect(outcome.fault == nil, "\(name)")
            #expect(outcome.isDecoded == name.hasPrefix("good") || name.hasPrefix("found"), "\(name)")
            if outcome.isDecoded { decoded += 1 } else { refused += 1 }
        }
        #expect(decoded >= 12 && refused >= 20, "\(decoded) decoded, \(refused) refused")
    }
}
