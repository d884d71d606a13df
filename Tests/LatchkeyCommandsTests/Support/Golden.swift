// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Expects that `text` is equal to `Golden/NAME.txt`.
///
/// With `LATCHKEY_RECORD=1` the file is written first and the test then fails, so that a recording
/// is never mistaken for a passed test.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "Golden/\(name).txt")
    if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1" {
        try Data(text.utf8).write(to: file)
        Issue.record(
            "recorded \(name).txt: read it, then run the tests without LATCHKEY_RECORD", sourceLocation: sourceLocation)
        return
    }
    guard let recorded = try? String(contentsOf: file, encoding: .utf8) else {
        let problem = "there is no \(name).txt: run the tests with LATCHKEY_RECORD=1, and read what they write"
        Issue.record("\(problem)", sourceLocation: sourceLocation)
        return
    }
    #expect(text == recorded, "\(name).txt differs", sourceLocation: sourceLocation)
}
