// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/property-lists: lists of each kind of value, and malformed ones.
@Suite("Fuzzer's corpus of property lists")
struct PropertyListCorpusTests {
    @Test("Every list of the corpus is read or rejected within the limits")
    func replay() throws {
        var (read, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("property-lists") {
            let outcome = PropertyListInput.read(bytes)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.isRead { read += 1 } else { refused += 1 }
        }
        #expect(read >= 4 && refused >= 4, "\(read) read, \(refused) refused")
    }
}
