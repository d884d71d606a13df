// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LatchkeyService
import Testing

/// Values that are cached until their files change.
@Suite("Values read from files")
struct StampedValueTests {
    @Test(
        "A file that changes while it is read makes the value out of date", arguments: ["changed", "made", "removed"])
    func changedWhileRead(_ change: String) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/program.entitlements"
        if change != "made" { try Data("before".utf8).write(to: URL(filePath: path)) }
        let value = StampedValue(readFrom: [path]) {
            let read = FileManager.default.contents(atPath: path)
            if change == "removed" {
                _ = try? FileManager.default.removeItem(atPath: path)
            } else {
                // Another length, because the clock of the file system may not have advanced.
                _ = FileManager.default.createFile(atPath: path, contents: Data("what comes after it".utf8))
            }
            return read
        }
        #expect(value.value == (change == "made" ? nil : Data("before".utf8)))
        #expect(!value.isCurrent)
    }

    @Test("A value is current until one of its files changes, or a missing one is created")
    func current() throws {
        let directory = try TemporaryDirectory()
        let (one, other) = ("\(directory.path)/one", "\(directory.path)/other")
        try Data("1".utf8).write(to: URL(filePath: one))
        let value = StampedValue(readFrom: [one, other]) { 7 }
        #expect(value.isCurrent && value.value == 7)
        try Data("2".utf8).write(to: URL(filePath: other))
        #expect(!value.isCurrent)
    }
}
