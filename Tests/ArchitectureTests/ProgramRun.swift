// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs a program, and returns its standard output and its standard error.
func run(_ program: String, _ words: [String]) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    // The modules with a limit on waits are not built for these tests.
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["--kill-after=10", "600", program] + words
    let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: "latchkey-errors-\(UUID())"))
    try Data().write(to: errors)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: errors) } }
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, try String(contentsOf: errors, encoding: .utf8))
}
