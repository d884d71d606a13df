// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The results as JSON, with times in nanoseconds.
struct ResultsFile: Encodable {
    let results: Results
    let verdicts: [Verdict]

    init(_ results: Results) {
        self.results = results
        verdicts = results.verdicts
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
