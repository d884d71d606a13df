// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/transport: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of transport settings")
struct TransportCorpusTests {
    @Test("Every setting of the corpus is read or refused, and none weakens more than it says")
    func replay() throws {
        var (read, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("transport") {
            let outcome = TransportInput.read(bytes)
            #expect(outcome.fault == nil, "\(name)")
            #expect(outcome.isRead == name.hasPrefix("good") || name.hasPrefix("found"), "\(name)")
            if outcome.isRead { read += 1 } else { refused += 1 }
        }
        #expect(read >= 8 && refused >= 10, "\(read) read, \(refused) refused")
    }
}
