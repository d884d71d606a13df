// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import Testing

/// Handles of protected files, and files as a whole.
@Suite("Protected files")
struct ProtectedFileTests {
    @Test("A daemon that ends closes the files of its programs", arguments: Backend.daemons)
    func endOfDaemon(_ backend: Backend) throws {
        let (keychain, directory) = (try TestKeychain(backend), try TemporaryDirectory())
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.setPasscode("correct horse")
            let file = try ProtectedFile.create(directory.path + "/file", protection: .complete)
            try file.append(Data("content".utf8))
            try file.synchronize()
            #expect(try file.read(at: 0, count: 7) == Data("content".utf8))
            try keychain.restartDaemon()
            // The program learns it on a thread of its own.
            var found: KeychainError?
            while found == nil {
                do { _ = try file.read(at: 0, count: 7) } catch let error as KeychainError { found = error }
            }
            #expect(found?.status == .interactionNotAllowed)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(try file.read(at: 0, count: 7) == Data("content".utf8))
        }
    }

    @Test("A handle writes anywhere, truncates and appends, and its content is read in parts")
    func handle() async throws {
        let (keychain, directory) = (try TestKeychain(.ephemeral), try TemporaryDirectory())
        let path = directory.path + "/file"
        try await keychain.runTask(groups: ["G1"]) {
            let file = try ProtectedFile.create(path, protection: .completeUnlessOpen)
            try file.write(Data("end".utf8), at: 200_000)
            try file.write(Data("begin".utf8), at: 0)
            #expect(try file.length == 200_003)
            #expect(throws: KeychainError.self) { try ProtectedFile(path, for: .updating) }
            try file.close()
            #expect(throws: KeychainError.self) { try file.read(at: 0, count: 1) }
            #expect(throws: KeychainError.self) { try ProtectedFile.create(path) }
            var content = Data()
            for try await part in try ProtectedFile(path).chunks() { content.append(part) }
            #expect(content.count == 200_003)
            #expect(content.prefix(5) == Data("begin".utf8) && content.suffix(3) == Data("end".utf8))
            let handle = try ProtectedFileHandle(forUpdatingAtPath: path)
            #expect(try handle.read(upToCount: 5) == Data("begin".utf8))
            try handle.truncate(atOffset: 5)
            try handle.write(contentsOf: Data("more".utf8))
            handle.seek(toOffset: 3)
            #expect(try handle.readToEnd() == Data("inmore".utf8))
            #expect(try handle.readToEnd() == nil)
            try handle.close()
            #expect(try ProtectedFile.contents(of: path) == Data("beginmore".utf8))
        }
    }

    @Test("A link is followed to read, and replaced by a file that is written as a whole")
    func links() throws {
        let (keychain, directory) = (try TestKeychain(.ephemeral), try TemporaryDirectory())
        let (path, link) = (directory.path + "/file", directory.path + "/link")
        try keychain.run(groups: ["G1"]) {
            try ProtectedFile.write(Data("one".utf8), to: path, protection: .complete)
            #expect(symlink("file", link) == 0)
            #expect(try ProtectedFile.contents(of: link) == Data("one".utf8))
            try ProtectedFile.write(Data("two".utf8), to: link)
            #expect(try ProtectedFile.contents(of: path) == Data("one".utf8))
            #expect(try ProtectedFile.contents(of: link) == Data("two".utf8))
            let error = #expect(throws: KeychainError.self) { try ProtectedFile.contents(of: directory.path + "/none") }
            #expect(error?.problem.contains("none") == true)
        }
    }

    @Test("The availability is reported with each lock")
    func availability() async throws {
        let keychain = try TestKeychain(.ephemeral)
        try await keychain.runTask(groups: ["G1"]) {
            #expect(try Keychain.default.isProtectedDataAvailable)
            try Keychain.default.setPasscode("correct horse")
            var changes = try Keychain.default.protectedDataAvailability().makeAsyncIterator()
            #expect(await changes.next() == true)
            try Keychain.default.lock(immediately: true)
            #expect(await changes.next() == false)
            #expect(try !Keychain.default.isProtectedDataAvailable)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(await changes.next() == true)
        }
    }
}
