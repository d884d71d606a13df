// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Latchkey
import Testing

/// `latchkey protect move`, and the other commands on files in the keychain.
@Suite("Commands for files in the keychain")
struct ProtectMoveTests {
    private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })

    private func fixture(_ backend: Backend = .onDisk) throws -> (TestKeychain, TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        try Self.content.write(to: URL(filePath: directory.path + "/scan"))
        return (try TestKeychain(backend), directory, directory.path + "/scan")
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("A file is moved into the keychain, printed, and moved out again", arguments: [Backend.onDisk, .daemon])
    func both(_ backend: Backend) throws {
        let (keychain, directory, path) = try fixture(backend)
        defer { withExtendedLifetime(directory) {} }
        let tried = keychain.latchkey("protect move -n --to-keychain scans/passport \(path)")
        #expect(tried.output == "would be moved into the keychain: \(path)\n" && exists(path))
        #expect(keychain.latchkey("cat --from-keychain scans/passport").exit != 0)
        let moved = keychain.latchkey("protect move --to-keychain scans/passport \(path)")
        #expect(moved.exit == 0 && moved.output == "moved into the keychain: \(path)\n" && !exists(path))
        #expect(keychain.latchkey("list").output.contains("scans/passport"))
        #expect(keychain.latchkey("cat --from-keychain scans/passport").exit == 0)
        let back = keychain.latchkey("protect move --json --from-keychain scans/passport \(path)")
        #expect(back.exit == 0 && back.output.contains("moved out of the keychain"))
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.content)
        #expect(keychain.latchkey("cat --from-keychain scans/passport").exit & 0xFF == 44)
    }

    @Test("Nothing is lost by a move that is refused")
    func refused() throws {
        let (keychain, directory, path) = try fixture()
        let other = directory.path + "/other"
        try Data("other".utf8).write(to: URL(filePath: other))
        #expect(keychain.latchkey("protect move --to-keychain scans/passport \(path)").exit == 0)
        // The name is taken, in the keychain and in the directory.
        #expect(keychain.latchkey("protect move --to-keychain scans/passport \(other)").error.contains("--replace"))
        #expect(exists(other))
        #expect(keychain.latchkey("protect move --from-keychain scans/passport \(other)").exit != 0)
        #expect(try Data(contentsOf: URL(filePath: other)) == Data("other".utf8))
        #expect(link(other, directory.path + "/second") == 0 && symlink(other, directory.path + "/link") == 0)
        #expect(keychain.latchkey("protect move --to-keychain a/b \(other)").error.contains("2 names"))
        #expect(keychain.latchkey("protect move --to-keychain a/b \(directory.path)/link").error.contains("regular"))
        #expect(keychain.latchkey("protect move --to-keychain a/b \(directory.path)").exit != 0)
        #expect(keychain.latchkey("protect move --to-keychain a/b /dev/null").exit != 0)
        let database = try #require(keychain.directory).path + "/data/keychain.db"
        #expect(keychain.latchkey("protect move --to-keychain a/b \(database)").error.contains("keychain itself"))
        #expect(exists(database))
        #expect(keychain.latchkey("protect move \(other)").exit == 2)
        #expect(keychain.latchkey("protect move --to-keychain a/b --class unless-open \(other)").exit == 2)
        #expect(keychain.latchkey("protect move --to-keychain a/b --from-keychain c/d \(other)").exit == 2)
        #expect(keychain.latchkey("set --secret-file \(other) pass/word").exit == 0)
        #expect(keychain.latchkey("cat --from-keychain pass/word").error.contains("not a file"))
        #expect(exists(other) && keychain.latchkey("cat --from-keychain scans/passport").exit == 0)
        #expect(unlink(directory.path + "/second") == 0)
        #expect(keychain.latchkey("protect move --replace --to-keychain scans/passport \(other)").exit == 0)
        #expect(keychain.latchkey("cat --from-keychain scans/passport").output == "other" && !exists(other))
    }

    @Test("While the class is closed, a move leaves everything as it is")
    func locked() throws {
        let (keychain, directory, path) = try fixture()
        let other = directory.path + "/other"
        try Data("other".utf8).write(to: URL(filePath: other))
        #expect(keychain.latchkey("protect move --class complete --to-keychain s/p \(path)").exit == 0)
        try keychain.run(groups: nil) {
            try Keychain.default.setPasscode("correct horse")
            try Keychain.default.lock(immediately: true)
        }
        #expect(keychain.latchkey("cat --from-keychain s/p").exit & 0xFF == 36)
        #expect(keychain.latchkey("protect move --from-keychain s/p \(path)").exit & 0xFF == 36 && !exists(path))
        #expect(keychain.latchkey("protect move --to-keychain s/q \(other)").exit & 0xFF == 36 && exists(other))
        try keychain.run(groups: nil) { try Keychain.default.unlock(passcode: "correct horse") }
        #expect(keychain.latchkey("protect move --from-keychain s/p \(path)").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.content)
    }

    @Test("latchkey rm deletes the file, and backup saves it only with --include-files")
    func others() throws {
        let (keychain, directory, path) = try fixture()
        let phrase = directory.path + "/phrase"
        try Data("a long enough passphrase".utf8).write(to: URL(filePath: phrase))
        #expect(chmod(phrase, 0o600) == 0)
        #expect(keychain.latchkey("protect move --to-keychain s/p \(path)").exit == 0)
        let plain = keychain.latchkey("backup --json --passphrase-file \(phrase) \(directory.path)/small")
        #expect(plain.exit == 0 && plain.output.contains("\"files\" : 0"))
        let full = keychain.latchkey("backup --include-files --passphrase-file \(phrase) \(directory.path)/large")
        #expect(full.exit == 0 && full.output.contains("files:        1"))
        #expect(keychain.latchkey("rm --force s/p").exit == 0)
        #expect(keychain.latchkey("cat --from-keychain s/p").exit & 0xFF == 44)
        let restored = keychain.latchkey("restore --json --merge --passphrase-file \(phrase) \(directory.path)/large")
        #expect(restored.exit == 0 && restored.output.contains("\"files\" : 1"), "\(restored.error)")
        #expect(keychain.latchkey("protect move --from-keychain s/p \(path)").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.content)
    }

    @Test("With --via-daemon every command works without the key in its process", arguments: [Backend.onDisk, .daemon])
    func withheld(_ backend: Backend) throws {
        let (keychain, directory, path) = try fixture(backend)
        defer { withExtendedLifetime(directory) {} }
        #expect(keychain.latchkey("protect --via-daemon --class complete \(path)").exit == 0)
        #expect(try ProtectedFile.protection(of: path) == .complete)
        #expect(keychain.latchkey("cat --via-daemon \(path)").exit == 0)
        #expect(keychain.latchkey("protect rekey --via-daemon --new-keys \(path)").exit == 0)
        #expect(keychain.latchkey("unprotect --via-daemon \(path)").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Self.content)
    }
}
