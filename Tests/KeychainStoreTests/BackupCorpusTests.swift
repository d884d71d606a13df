// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/backups: those that the fuzzer starts from, and whatever it has found.
@Suite("Fuzzer's corpus of backups")
struct BackupCorpusTests {
    @Test("Every backup of the corpus is restored whole or refused, and what is restored opens")
    func replay() throws {
        var (restored, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("backups") {
            let outcome = try BackupInput.restore(bytes)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.isRestored { restored += 1 } else { refused += 1 }
        }
        #expect(restored >= 3 && refused >= 6, "\(restored) restored, \(refused) refused")
    }
}
