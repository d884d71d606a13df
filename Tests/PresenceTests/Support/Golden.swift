// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Compares a text with `Golden/NAME.txt`. With LATCHKEY_RECORD=1 the file is written, and the test
/// fails, so that the text is read.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "Golden/\(name).txt")
    if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1" {
        try Data(text.utf8).write(to: file)
        Issue.record(
            "recorded \(name).txt: read it, then run the tests without LATCHKEY_RECORD", sourceLocation: sourceLocation)
        return
    }
    let recorded = try? String(contentsOf: file, encoding: .utf8)
    #expect(text == recorded, "\(name).txt differs; LATCHKEY_RECORD=1 writes it", sourceLocation: sourceLocation)
}
