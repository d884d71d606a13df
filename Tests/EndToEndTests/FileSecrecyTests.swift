// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
import Testing

/// The secrecy of a protected file from a reader of the disk without a key.
@Suite("Secrecy of protected files")
struct FileSecrecyTests {
    private let keychain: TestKeychain
    private let directory: TemporaryDirectory
    private let first = KnownWords("first")
    private let second = KnownWords("second")
    private var path: String { directory.path + "/archive.plist" }

    init() throws {
        keychain = try TestKeychain(.onDisk)
        directory = try TemporaryDirectory()
    }

    @Test("The searches find every word of an archive that is not protected")
    func plain() throws {
        try first.archive(records: 100).write(to: URL(filePath: path))
        #expect(first.found(in: try Data(contentsOf: URL(filePath: path))) == first.all)
        guard KnownWords.canPrint else { return reportSkipped("the search with strings, which needs binutils") }
        #expect(first.found(in: try KnownWords.printableText(of: path)) == first.printable)
    }

    @Test("No word of an archive is in its protected file, also after it was rewritten, cut, and encrypted again")
    func archive() throws {
        let (short, long) = (try first.archive(records: 1500), try second.archive(records: 4000))
        try #require(long.count > short.count + 150_000)
        try short.write(to: URL(filePath: path))
        try latchkey("protect", "--class", "complete", path)
        try expectNoWord("protected")
        try update { file in try file.write(long, at: 0) }
        try expectNoWord("rewritten")
        try update { file in try file.truncate(to: UInt64(long.count - 100_000)) }
        try expectNoWord("cut")
        // Each part is stored before the next one, so that slots are used again.
        try update { file in
            for start in stride(from: 0, to: short.count - 5000, by: 30_000) {
                try file.write(short[start..<start + 5000], at: UInt64(start))
                try file.synchronize()
            }
        }
        try expectNoWord("rewritten in parts")
        try update { file in
            try file.truncate(to: 0)
            try file.synchronize()
            try file.append(short)
        }
        try expectNoWord("emptied and filled")
        try latchkey("protect", "--class", "none", path)
        try expectNoWord("in another class")
        try latchkey("protect", "rekey", "--new-keys", path)
        try expectNoWord("with a new key")
        #expect(try content() == short)
        try keychain.run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            try ProtectedFile.write(long, to: path)
        }
        try expectNoWord("replaced")
        #expect(try content() == long)
    }

    // MARK: Helpers

    private func latchkey(_ words: String...) throws {
        let home = try #require(keychain.directory).path
        let outcome = try Executable.run("latchkey", words, home: home)
        try #require(outcome.status == 0, "\(outcome)")
    }

    /// Changes the file in place, and stores it.
    private func update(_ body: (ProtectedFile) throws -> Void) throws {
        try keychain.run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            let file = try ProtectedFile(path, for: .updating)
            try body(file)
            try file.close()
        }
    }

    private func content() throws -> Data {
        try keychain.run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            try ProtectedFile.contents(of: path)
        }
    }

    private func expectNoWord(_ state: String) throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["archive.plist"], "\(state)")
        let stored = try Data(contentsOf: URL(filePath: path))
        #expect(stored.starts(with: Array("LATCHKEY".utf8)), "\(state)")
        let printed = KnownWords.canPrint ? try KnownWords.printableText(of: path) : Data()
        for words in [first, second] {
            #expect(words.found(in: stored) == [], "\(state)")
            #expect(words.found(in: printed) == [], "\(state)")
        }
    }
}
