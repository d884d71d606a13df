// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
import Testing

/// Protected files on a full and on a read-only file system: each failure has its name, and the files stay
/// as they were.
@Suite(
    "Storage errors of protected files",
    .enabled(if: StorageErrorTests.canMount, "needs root with the right to mount"))
struct FileStorageErrorTests {
    /// More than four chunks.
    private static let text = String((0..<40_000).map { "line \($0)\n" }.joined().prefix(300_000))
    private static let content = Data(text.utf8)

    // MARK: A full file system

    @Test("Without space, protect leaves the plain file and nothing beside it; with space it works")
    func protectWithoutSpace() throws {
        let (home, disk) = (try TemporaryDirectory(), try SmallFileSystem())
        let path = disk.path + "/notes"
        try Self.content.write(to: URL(filePath: path))
        try disk.fill()
        let refused = try latchkey(["protect", "--class", "complete", path], home)
        expectFull(refused, path)
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.content)
        #expect(try disk.names == ["notes"])
        try disk.makeRoom()
        let done = try latchkey(["protect", "--class", "complete", path], home)
        #expect(done.status == 0, "\(done)")
        #expect(try latchkey(["cat", path], home).output == Self.text)
        #expect(try disk.names == ["notes"])
    }

    @Test(
        "Without space, a protected file stays unchanged and readable; with space the command works",
        arguments: [["unprotect"], ["protect", "rekey", "--new-keys"]])
    func convertWithoutSpace(_ command: [String]) throws {
        let (home, disk) = (try TemporaryDirectory(), try SmallFileSystem())
        let path = try protectedFile(on: disk, home)
        let before = try Data(contentsOf: URL(filePath: path))
        try disk.fill()
        expectFull(try latchkey(command + [path], home), path)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try latchkey(["cat", path], home).output == Self.text)
        #expect(try disk.names == ["notes"])
        try disk.makeRoom()
        let done = try latchkey(command + [path], home)
        #expect(done.status == 0, "\(done)")
        let after = try Data(contentsOf: URL(filePath: path))
        if command == ["unprotect"] {
            #expect(after == Self.content)
        } else {
            #expect(after != before)
            #expect(try latchkey(["cat", path], home).output == Self.text)
        }
        #expect(try disk.names == ["notes"])
    }

    @Test("Another class needs no space: the header is written in its place")
    func rewrapWithoutSpace() throws {
        let (home, disk) = (try TemporaryDirectory(), try SmallFileSystem())
        let path = try protectedFile(on: disk, home)
        try disk.fill()
        let changed = try latchkey(["protect", "--class", "none", path], home)
        #expect(changed.status == 0 && changed.output == "changed: \(path)\n", "\(changed)")
        #expect(try latchkey(["cat", path], home).output == Self.text)
        #expect(try latchkey(["protect", "status", path], home).output.hasPrefix("none\t"))
    }

    @Test("Without space, edit keeps the file and the edited text; with space it stores it")
    func editWithoutSpace() throws {
        let (home, disk, memory) = (try TemporaryDirectory(), try SmallFileSystem(), try SmallFileSystem())
        let path = try protectedFile(on: disk, home)
        let edited = Self.text + "a last line\n"
        try Data(edited.utf8).write(to: URL(filePath: home.path + "/edited"))
        try disk.fill()
        let refused = try latchkey(["edit", path], home, editing: memory)
        expectFull(refused, path)
        #expect(refused.error.contains("the edited text was not stored; it is in \(memory.path)/"), "\(refused)")
        #expect(try latchkey(["cat", path], home).output == Self.text)
        let kept = try FileManager.default.subpathsOfDirectory(atPath: memory.path).filter { $0.hasSuffix("/notes") }
        #expect(kept.count == 1)
        for name in kept {
            #expect(try Data(contentsOf: URL(filePath: "\(memory.path)/\(name)")) == Data(edited.utf8))
        }
        #expect(try disk.names == ["notes"])
        try disk.makeRoom()
        let done = try latchkey(["edit", path], home, editing: memory)
        #expect(done.status == 0, "\(done)")
        #expect(try latchkey(["cat", path], home).output == edited)
    }

    @Test("Without space, changes and new files fail by name, and stored content stays; with space the handle goes on")
    func writeWithoutSpace() throws {
        let (keychain, disk) = (try TestKeychain(.ephemeral), try SmallFileSystem())
        let path = disk.path + "/file"
        let old = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try keychain.run(groups: ["G1"]) {
            try ProtectedFile.write(old, to: path, protection: .complete)
            let file = try ProtectedFile(path, for: .updating)
            try disk.fill()
            expect(.diskFull) {
                try file.append(Self.content)
                try file.synchronize()
            }
            #expect(try ProtectedFile.contents(of: path) == old)
            expect(.diskFull) { try ProtectedFile.write(Self.content, to: path) }
            expect(.diskFull) { try ProtectedFile.write(Self.content, to: disk.path + "/new") }
            expect(.diskFull) { _ = try ProtectedFile.create(disk.path + "/empty", protection: .complete) }
            #expect(try ProtectedFile.contents(of: path) == old)
            #expect(try disk.names == ["file"])
            try disk.makeRoom()
            try file.append(Self.content)
            try file.close()
            #expect(try ProtectedFile.contents(of: path) == old + Self.content)
            try ProtectedFile.write(Self.content, to: path)
            #expect(try ProtectedFile.contents(of: path) == Self.content)
            #expect(try disk.names == ["file"])
        }
    }

    // MARK: A read-only file system

    @Test(
        "On a read-only file system, with the keychain or without it, commands read files and refuse changes by name",
        .long,
        .long,
        arguments: [false, true])
    func readOnlyCommands(_ hasKeychain: Bool) throws {
        let (place, disk, memory) = (try TemporaryDirectory(), try SmallFileSystem(), try SmallFileSystem())
        let home = hasKeychain ? disk.path + "/home" : place.path
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let (path, plain) = (try protectedFile(on: disk, home: home), disk.path + "/plain")
        try Self.content.write(to: URL(filePath: plain))
        try Data("edited\n".utf8).write(to: URL(filePath: place.path + "/edited"))
        let environment = ["XDG_RUNTIME_DIR": memory.path, "EDITOR": "cp \(place.path)/edited"]
        let (before, names) = (try Data(contentsOf: URL(filePath: path)), try disk.names)
        try disk.makeReadOnly()
        #expect(try Executable.run("latchkey", ["cat", path], home: home).output == Self.text)
        let status = try Executable.run("latchkey", ["protect", "status", path], home: home)
        #expect(status.status == 0 && status.output == "complete\t\(path)\tlatchkey.shared\n", "\(status)")
        let dryRun = try Executable.run("latchkey", ["protect", "-n", "--class", "none", path], home: home)
        #expect(dryRun.status == 0 && dryRun.output == "would be changed: \(path)\n", "\(dryRun)")
        for words in [
            ["protect", "--class", "none", path], ["protect", "--class", "complete", plain],
            ["protect", "--policy", "--class", "complete", disk.path], ["protect", "rekey", path],
            ["protect", "rekey", "--new-keys", path], ["unprotect", path], ["edit", path],
            ["edit", "--class", "complete", disk.path + "/new"],
        ] {
            let refused = try Executable.run("latchkey", words, home: home, environment: environment)
            #expect(refused.status == 52 && refused.error.contains("Read-only file system"), "\(words): \(refused)")
            #expect(refused.error.contains(disk.path), "\(words): \(refused)")
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try Data(contentsOf: URL(filePath: plain)) == Self.content)
        #expect(try disk.names == names)
    }

    @Test("On a read-only file system, a program reads files, and every change fails with errSecReadOnly")
    func readOnlyCalls() throws {
        let (keychain, disk) = (try TestKeychain(.ephemeral), try SmallFileSystem())
        let (path, plain) = (disk.path + "/file", disk.path + "/plain")
        try Self.content.write(to: URL(filePath: plain))
        try keychain.run(groups: ["G1"]) {
            try ProtectedFile.write(Self.content, to: path, protection: .complete)
            let file = try ProtectedFile(path)
            try disk.makeReadOnly()
            #expect(try file.read(at: 299_000, count: 5000) == Self.content.suffix(1000))
            #expect(try ProtectedFile.contents(of: path) == Self.content)
            #expect(try ProtectedFile.protection(of: path) == .complete)
            expect(.readOnly) { _ = try ProtectedFile(path, for: .updating) }
            expect(.readOnly) { try file.write(Data("new".utf8), at: 0) }
            expect(.readOnly) { try ProtectedFile.write(Data("new".utf8), to: path) }
            expect(.readOnly) { _ = try ProtectedFile.create(disk.path + "/new", protection: .complete) }
            expect(.readOnly) { try ProtectedFile.protect(plain, .complete) }
            expect(.readOnly) { try ProtectedFile.protect(path, FileProtectionClass.none) }
            expect(.readOnly) { try ProtectedFile.unprotect(path) }
            expect(.readOnly) { try ProtectedDirectory.setProtection(.complete, of: disk.path) }
            #expect(try ProtectedFile.contents(of: path) == Self.content)
            #expect(try disk.names == ["file", "plain"])
        }
    }

    // MARK: Helpers

    private func latchkey(_ words: [String], _ home: TemporaryDirectory) throws -> Executable.Outcome {
        try Executable.run("latchkey", words, home: home.path)
    }

    /// Runs a command with an editor that copies the file `edited` of the home over the text in `memory`.
    private func latchkey(
        _ words: [String], _ home: TemporaryDirectory, editing memory: SmallFileSystem
    ) throws -> Executable.Outcome {
        try Executable.run(
            "latchkey", words, home: home.path,
            environment: ["XDG_RUNTIME_DIR": memory.path, "EDITOR": "cp \(home.path)/edited"])
    }

    private func protectedFile(on disk: SmallFileSystem, _ home: TemporaryDirectory) throws -> String {
        try protectedFile(on: disk, home: home.path)
    }

    private func protectedFile(on disk: SmallFileSystem, home: String) throws -> String {
        let path = disk.path + "/notes"
        try Self.content.write(to: URL(filePath: path))
        let outcome = try Executable.run("latchkey", ["protect", "--class", "complete", path], home: home)
        try #require(outcome.status == 0, "\(outcome)")
        return path
    }

    /// Expects errSecDiskFull, with the path and a hint.
    private func expectFull(_ outcome: Executable.Outcome, _ path: String) {
        #expect(outcome.status == 222 && outcome.error.contains("No space left on device"), "\(outcome)")
        #expect(outcome.error.contains(path) && outcome.error.contains("hint: free some space"), "\(outcome)")
    }

    private func expect(
        _ status: OSStatusCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.status == status, sourceLocation: sourceLocation)
    }
}
