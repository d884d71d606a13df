// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import FoundationEssentials
import Glibc
import KeychainModel
import KeychainTesting
import Testing

@Suite("Stored prints")
struct PrintStoreTests {
    @Test("Another finger, another content and another reader give another digest; the same prints the same one")
    func changes() throws {
        let store = try StoreFixture()
        #expect(try store.digest() == nil)
        var digests: [[UInt8]?] = []
        for (path, content) in [
            ("driver/0/7", "a"), ("driver/0/8", "a"), ("driver/1/7", "a"), ("other/0/7", "a"), ("driver/0/7", "b"),
        ] {
            try store.write(content, to: "user/\(path)")
            digests.append(try store.digest())
        }
        #expect(!digests.contains(nil))
        #expect(Set(digests).count == digests.count)
        let again = try StoreFixture()
        for path in ["other/0/7", "driver/1/7", "driver/0/8"] { try again.write("a", to: "user/\(path)") }
        try again.write("b", to: "user/driver/0/7")
        #expect(try again.digest() == digests.last)
    }

    @Test("Prints of other users, and files that fprintd does not read, change nothing")
    func ignored() throws {
        let store = try StoreFixture()
        try store.write("a", to: "user/driver/0/7")
        let digest = try store.digest()
        for path in ["other/driver/0/7", "user/driver/0/7.X1Y2Z3", "user/driver/0/b"] {
            try store.write("b", to: path)
        }
        #expect(try store.digest() == digest)
    }

    @Test("Directories without prints are an empty set")
    func empty() throws {
        let store = try StoreFixture()
        try FileManager.default.createDirectory(
            atPath: "\(store.path)/user/driver/0", withIntermediateDirectories: true)
        #expect(try store.digest() == nil)
        #expect(try PrintStore("\(store.path)/missing").enrolledSet(ofUserNamed: "user") == nil)
    }

    @Test(
        "A symbolic link is an error at every level",
        arguments: ["user", "user/driver", "user/driver/0", "user/driver/0/7"])
    func links(_ place: String) throws {
        let (store, target) = (try StoreFixture(), try StoreFixture())
        try target.write("a", to: "user/driver/0/7")
        try store.makeParents(of: place)
        symlink("\(target.path)/\(place)", "\(store.path)/\(place)")
        #expect(throws: EnrolledSetError.self) { try store.digest() }
    }

    @Test(
        "A file of another kind, a file among directories and a file that is too large are errors",
        arguments: [
            "pipe", "directory", "file", "large",
        ])
    func kinds(_ kind: String) throws {
        let store = try StoreFixture()
        try store.write("a", to: "user/driver/0/7")
        switch kind {
        case "pipe": mkfifo("\(store.path)/user/driver/0/8", 0o600)
        case "directory": mkdir("\(store.path)/user/driver/0/8", 0o700)
        case "file": try store.write("a", to: "user/file")
        default:
            try store.write("a", to: "user/driver/0/8")
            truncate("\(store.path)/user/driver/0/8", off_t(PrintStore.maxPrintLength) + 1)
        }
        #expect(throws: EnrolledSetError.self) { try store.digest() }
    }

    @Test("More entries than a reader has are an error")
    func entries() throws {
        let store = try StoreFixture()
        for number in 0...64 { try store.write("a", to: "user/driver/\(number)/7") }
        #expect(throws: EnrolledSetError.self) { try store.digest() }
    }

    @Test("A user name that leads to another directory is refused", arguments: ["", ".", "..", "a/b", "../user"])
    func names(_ name: String) throws {
        let store = try StoreFixture()
        try store.write("a", to: "user/driver/0/7")
        #expect(throws: EnrolledSetError.self) { try PrintStore(store.path).enrolledSet(ofUserNamed: name) }
    }

    @Test("The names of fingers give a digest that ignores their order and differs from that of other names")
    func fingerNames() throws {
        let set = try EnrolledSet(fingerNames: ["left-thumb", "right-thumb"])
        #expect(try set == EnrolledSet(fingerNames: ["right-thumb", "left-thumb"]))
        for names in [["left-thumb"], ["left-thumbright-thumb"], ["left-thumb", "right-thumb", ""]] {
            #expect(try set != EnrolledSet(fingerNames: names))
        }
    }
}

/// A state directory of fprintd.
struct StoreFixture {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    func digest(of user: String = "user") throws -> [UInt8]? {
        try PrintStore(path).enrolledSet(ofUserNamed: user)?.digest
    }

    func makeParents(of file: String) throws {
        let parents = file.split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(atPath: "\(path)/\(parents)", withIntermediateDirectories: true)
    }

    func write(_ text: String, to file: String) throws {
        try makeParents(of: file)
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(file)"))
    }
}
