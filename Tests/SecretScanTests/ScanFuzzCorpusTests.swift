// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/scans: files with planted secrets, and damaged ones.
@Suite("Fuzzer's corpus of scanned files")
struct ScanFuzzCorpusTests {
    @Test("Every file of the corpus is scanned within the limits")
    func replay() throws {
        var (found, empty) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("scans") {
            let outcome = ScanInput.scan(bytes)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.count > 0 { found += 1 } else { empty += 1 }
        }
        #expect(found >= 12 && empty >= 4, "\(found) with findings, \(empty) without")
    }
}
