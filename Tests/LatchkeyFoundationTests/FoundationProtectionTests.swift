// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Latchkey
import LatchkeyFoundation
import Testing

/// The lines of Foundation that protect files, as they are written for iOS.
@Suite("Foundation's calls for protected files")
struct FoundationProtectionTests {
    @Test("Data.write(to:options:) obeys the lock", arguments: Backend.allCases)
    func options(_ backend: Backend) throws {
        let (keychain, directory) = (try TestKeychain(backend), try TemporaryDirectory())
        try keychain.run(groups: ["G1"]) {
            let data = Data("a secret of the app".utf8)
            let folder = URL(filePath: directory.path)
            try data.write(to: folder.appending(path: "complete"), options: .completeFileProtection)
            try data.write(to: folder.appending(path: "open"), options: [.atomic, .completeFileProtectionUnlessOpen])
            try data.write(
                to: folder.appending(path: "first"), options: .completeFileProtectionUntilFirstUserAuthentication)
            try data.write(to: folder.appending(path: "none"), options: .noFileProtection)
            try data.write(to: folder.appending(path: "plain"), options: .atomic)
            let classes = ["complete", "open", "first", "none", "plain"].map {
                try? ProtectedFile.protection(of: "\(directory.path)/\($0)")
            }
            #expect(
                classes == [
                    .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, FileProtectionClass.none,
                    nil,
                ])
            for name in ["complete", "open", "first", "none", "plain"] {
                #expect(try Data(contentsOf: folder.appending(path: name)) == data)
                let stored = try #require(Self.stored(folder.appending(path: name)))
                #expect((stored.range(of: data) == nil) == (name != "plain"))
            }
            try Keychain.default.setPasscode("correct horse")
            try Keychain.default.lock(immediately: true)
            for name in ["complete", "open"] {
                #expect(throws: CocoaError(.fileReadNoPermission).code) {
                    try Self.code { _ = try Data(contentsOf: folder.appending(path: name)) }
                }
            }
            #expect(try Data(contentsOf: folder.appending(path: "first")) == data)
            #expect(throws: CocoaError(.fileWriteNoPermission).code) {
                try Self.code { try data.write(to: folder.appending(path: "new"), options: .completeFileProtection) }
            }
            #expect(!FileManager.default.fileExists(atPath: directory.path + "/new"))
            try data.write(to: folder.appending(path: "new"), options: .completeFileProtectionUnlessOpen)
            #expect(!ProtectedData.isAvailable)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(ProtectedData.isAvailable)
            #expect(try Data(contentsOf: folder.appending(path: "new")) == data)
        }
    }

    @Test("A URL with a non-UTF-8 path is refused, also below a directory with a class, and no file is written")
    func names() throws {
        let (keychain, directory) = (try TestKeychain(.ephemeral), try TemporaryDirectory())
        try keychain.run(groups: ["G1"]) {
            try ProtectedDirectory.setProtection(.complete, of: directory.path)
            let url = try #require(URL(string: "file://\(directory.path)/caf%E9"))
            for options in [[], .completeFileProtection, .atomic] as [Data.WritingOptions] {
                #expect(throws: CocoaError.self) { try Data("a secret".utf8).write(to: url, options: options) }
            }
            #expect(throws: CocoaError.self) { _ = try Data(contentsOf: url) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [".latchkey-protect"])
        }
    }

    @Test("A protected file keeps its class, and .withoutOverwriting its content")
    func rewriting() throws {
        let (keychain, directory) = (try TestKeychain(.ephemeral), try TemporaryDirectory())
        try keychain.run(groups: ["G1"]) {
            let file = URL(filePath: directory.path + "/file")
            try Data("one".utf8).write(to: file, options: .completeFileProtection)
            try Data("two".utf8).write(to: file)
            #expect(try ProtectedFile.protection(of: file.path) == .complete)
            try "three".write(to: file, atomically: true, encoding: .utf8)
            #expect(try ProtectedFile.protection(of: file.path) == .complete)
            #expect(try Data(contentsOf: file) == Data("three".utf8))
            #expect(throws: CocoaError.self) {
                try Data("four".utf8).write(to: file, options: [.withoutOverwriting, .completeFileProtection])
            }
            #expect(FileManager.default.contents(atPath: file.path) == Data("three".utf8))
        }
    }

    @Test("FileManager sets, returns and creates the class")
    func fileManager() throws {
        let (keychain, directory) = (try TestKeychain(.ephemeral), try TemporaryDirectory())
        try keychain.run(groups: ["G1"]) {
            let (path, manager) = (directory.path + "/file", FileManager.default)
            #expect(manager.createFile(atPath: path, contents: Data("content".utf8)))
            #expect(!(try manager.attributesOfItem(atPath: path)).keys.contains(.protectionKey))
            try manager.setAttributes(
                [.protectionKey: FileProtectionType.complete, .posixPermissions: 0o640], ofItemAtPath: path)
            let attributes = try manager.attributesOfItem(atPath: path)
            let found = try #require(attributes[.protectionKey] as? FileProtectionType)
            #expect(found == FileProtectionType.complete)
            #expect(attributes[.size] as? Int == 7)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(
                manager.createFile(
                    atPath: path + "2", contents: Data("x".utf8),
                    attributes: [.protectionKey: FileProtectionType.completeUnlessOpen]))
            #expect(try ProtectedFile.protection(of: path + "2") == .completeUnlessOpen)
            try manager.createDirectory(
                atPath: directory.path + "/folder", withIntermediateDirectories: false,
                attributes: [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication])
            try Data("new".utf8).write(to: URL(filePath: directory.path + "/folder/new"))
            #expect(
                try ProtectedFile.protection(of: directory.path + "/folder/new")
                    == .completeUntilFirstUserAuthentication)
            #expect(throws: CocoaError.self) {
                try manager.setAttributes([.protectionKey: "NSFileProtectionOther"], ofItemAtPath: path)
            }
        }
    }

    @Test("The lock posts the notifications of protected data")
    func notifications() async throws {
        let keychain = try TestKeychain(.ephemeral)
        try await keychain.runTask(groups: ["G1"]) {
            try Keychain.default.setPasscode("correct horse")
            let center = NotificationCenter()
            let (names, continuation) = AsyncStream.makeStream(of: Notification.Name.self)
            let tokens = [
                ProtectedData.didBecomeAvailableNotification, ProtectedData.willBecomeUnavailableNotification,
            ]
            .map { name in
                center.addObserver(forName: name, object: nil, queue: nil) { continuation.yield($0.name) }
            }
            let task = try ProtectedData.postNotifications(to: center)
            try Keychain.default.lock(immediately: true)
            var iterator = names.makeAsyncIterator()
            #expect(await iterator.next() == ProtectedData.willBecomeUnavailableNotification)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(await iterator.next() == ProtectedData.didBecomeAvailableNotification)
            task.cancel()
            for token in tokens { center.removeObserver(token) }
        }
    }

    /// The bytes on the disk.
    private static func stored(_ url: URL) -> Data? { NSData(contentsOfFile: url.path).map { Data(referencing: $0) } }

    /// Throws the code of a CocoaError, because a code can be compared.
    private static func code(_ body: () throws -> Void) throws {
        do { try body() } catch let error as CocoaError { throw error.code }
    }
}

extension CocoaError.Code: @retroactive Error {}
