// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
@testable import LatchkeyCommands
import LinuxSystem
import Testing

/// The folder of hooks, as a process sees it.
@Suite("Hooks of a renewal")
struct RenewalHookTests {
    private func folder(_ files: [String: Int], mode: Int = 0o700) throws -> (TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        let folder = "\(directory.path)/latchkey/renew-hooks.d"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, mode) in files {
            _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data("#!/bin/sh\n".utf8))
            #expect(chmod("\(folder)/\(name)", mode_t(mode)) == 0)
        }
        #expect(chmod(folder, mode_t(mode)) == 0)
        return (directory, folder)
    }

    @Test("The executables of the folder run in the order of their names")
    func order() throws {
        let (directory, folder) = try folder([
            "20-b": 0o755, "10-a": 0o700, "30-text": 0o600, ".hidden": 0o700, "40-old~": 0o700,
        ])
        // A name that is not UTF-8.
        let latin1 = FilePath(bytes: Array("\(folder)/30-c".utf8) + [0xE9])
        close(try OwnedDescriptor(opening: latin1, flags: O_WRONLY | O_CREAT, mode: 0o700).release())
        #expect(
            try RenewalHooks.paths(below: FilePath(directory.path)) == ["\(folder)/10-a", "\(folder)/20-b", latin1])
        let empty = try TemporaryDirectory()
        #expect(try RenewalHooks.paths(below: FilePath(empty.path)).isEmpty)
    }

    @Test("A hook or a folder that others can write refuses the renewal", arguments: [(0o722, 0o700), (0o700, 0o720)])
    func writable(_ file: Int, _ folderMode: Int) throws {
        let (directory, _) = try folder(["10-a": file], mode: folderMode)
        #expect(throws: CommandFailure.self) { try RenewalHooks.paths(below: FilePath(directory.path)) }
    }

    @Test("A hook of another user refuses the renewal", .enabled(if: geteuid() == 0, "needs root"))
    func otherUser() throws {
        let (directory, folder) = try folder(["10-a": 0o700])
        #expect(chown("\(folder)/10-a", 12_345, 12_345) == 0)
        #expect(throws: CommandFailure.self) { try RenewalHooks.paths(below: FilePath(directory.path)) }
    }
}
