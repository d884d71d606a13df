// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// The keychains that a user has created, beside the one that every user has.
@Suite("Keychains of a user")
struct UserKeychainsTests {
    private static let caller = CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["G1"])
    private static let passcode = SharedSecret(copying: "build password".utf8)

    private func fixture() throws -> (UserKeychains, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        return (UserKeychains(KeychainHome(root: directory.path)), directory)
    }

    private static func name(_ text: String) throws -> KeychainName { try #require(KeychainName(text)) }

    /// Creates a keychain with a passcode.
    private static func create(_ text: String, in keychains: UserKeychains) throws {
        try keychains.create(try name(text)) { (home) throws(KeychainError) in
            let service = try EmbeddedService(home: home)
            defer { service.close() }
            try service.lock.setPasscode(passcode) { _, _ in }
        }
    }

    @Test("A name is that of macOS's file, without a place; a text that leaves the directory is no name")
    func names() throws {
        for text in ["build", "build.keychain", "build.keychain-db"] {
            #expect(try Self.name(text).text == "build")
        }
        #expect(try Self.name("My Certificates.keychain-db").text == "My Certificates")
        #expect(try Self.name("größe").fileName == "größe.keychain-db")
        #expect(try Self.name("login.keychain-db") == .login)
        let long = String(repeating: "n", count: KeychainName.maxLength)
        #expect(KeychainName(long) != nil && KeychainName(long + "n") == nil)
        for text in [
            "", ".", "..", "../x", "a/b", ".hidden", "-p", "a\u{0}b", "a\nb", "a\u{1B}[2J", "\u{202E}a",
            ".keychain", ".keychain-db", "a.keychain.keychain-db.keychain", " ", " a", "a ", "a .keychain", "\u{A0}a",
            "a\u{3000}", "a\u{FFFD}",
        ] {
            #expect(KeychainName(text) == nil, "\(text.debugDescription)")
        }
        #expect(try Self.name("/tmp/a b/build").fileName == "/tmp/a b/build")
        let path = "/" + String(repeating: "n", count: KeychainName.maxPathLength - 1)
        #expect(KeychainName(path)?.isPath == true && KeychainName(path + "n") == nil)
        for text in ["/", "/a/", "//a", "/a//b", "/a/./b", "/a/..", "/../a", "/a\nb", "/a\u{0}", "/a ", "/\u{FFFD}"] {
            #expect(KeychainName(text) == nil, "\(text.debugDescription)")
        }
        // Two directories are two names, although String takes them for the same text.
        let (one, other) = (try Self.name("caf\u{E9}"), try Self.name("cafe\u{301}"))
        #expect(one != other && Set([one, other]).count == 2)
    }

    @Test("Keychains are created beside each other, each with a passcode and items of its own")
    func separate() throws {
        let (keychains, directory) = try fixture()
        #expect(try keychains.names() == [.login])
        try Self.create("build", in: keychains)
        try Self.create("archive", in: keychains)
        #expect(try keychains.names().map(\.text) == ["login", "archive", "build"])
        #expect(try keychains.list().search.map(\.text) == ["login", "build", "archive"])
        #expect(try keychains.list().defaultKeychain == .login)

        let build = try EmbeddedService(home: keychains.home(of: try Self.name("build")))
        let login = try EmbeddedService(home: keychains.home(of: .login))
        defer {
            build.close()
            login.close()
        }
        let item = ItemAddition(
            .genericPassword, attributes: [.service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: "x".utf8)))
        #expect(throws: KeychainError.self) { try build.items.add(item, from: Self.caller) }
        try build.lock.unlock(Self.passcode) { _, _ in }
        _ = try build.items.add(item, from: Self.caller)
        #expect(try login.status().counts.isEmpty && !login.lock.status().hasPasscode)
        let wrong = #expect(throws: KeychainError.self) {
            try build.lock.unlock(SharedSecret(copying: "wrong one".utf8)) { _, _ in }
        }
        #expect(wrong?.status == .authFailed)
        #expect(try build.lock.status().wrongPasscodes == 1 && login.lock.status().wrongPasscodes == 0)
        withExtendedLifetime(directory) {}
    }

    @Test("A keychain that exists is not created again, and one that does not exist is not deleted")
    func existing() throws {
        let (keychains, directory) = try fixture()
        try Self.create("build", in: keychains)
        let again = #expect(throws: KeychainError.self) { try Self.create("build.keychain", in: keychains) }
        #expect(again?.status == .duplicateKeychain)
        let login = #expect(throws: KeychainError.self) { try Self.create("login", in: keychains) }
        #expect(login?.status == .duplicateKeychain)
        let missing = #expect(throws: KeychainError.self) { try keychains.delete(try Self.name("other")) }
        #expect(missing?.status == .noSuchKeychain)
        #expect(throws: KeychainError.self) { try keychains.delete(.login) }
        try keychains.delete(try Self.name("build"))
        #expect(try keychains.names() == [.login] && keychains.list() == .initial)
        #expect(try Self.leftovers(directory) == [])
        try Self.create("build", in: keychains)
        #expect(try keychains.names().count == 2)
    }

    /// Returns the content of the directories of created keychains.
    private static func leftovers(_ directory: TemporaryDirectory) throws -> [String] {
        try ["data", "state"].flatMap {
            try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/\($0)/keychains")
        }
    }

    @Test("A creation that fails, or was interrupted, leaves no keychain, and does not stop the next one")
    func interrupted() throws {
        let (keychains, directory) = try fixture()
        let error = #expect(throws: KeychainError.self) {
            try keychains.create(try Self.name("build")) { (home) throws(KeychainError) in
                let service = try EmbeddedService(home: home)
                service.close()
                throw KeychainError(.diskFull)
            }
        }
        #expect(error?.status == .diskFull)
        #expect(try keychains.names() == [.login] && keychains.list() == .initial && Self.leftovers(directory) == [])
        // As a killed process leaves them.
        for place in ["data", "state"] {
            for name in [".draft", "build.keychain-db"] where place == "state" || name == ".draft" {
                let path = "\(directory.path)/\(place)/keychains/\(name)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try Data("rest".utf8).write(to: URL(filePath: path + "/device.key"))
            }
        }
        #expect(try keychains.names() == [.login])
        try Self.create("build", in: keychains)
        let build = try EmbeddedService(home: keychains.home(of: try Self.name("build")))
        defer { build.close() }
        try build.lock.unlock(Self.passcode) { _, _ in }
    }

    @Test("If the list cannot be written, no keychain is created, and a deleted one is gone all the same")
    func listNotWritten() throws {
        let (keychains, directory) = try fixture()
        try Self.create("old", in: keychains)
        let (list, build) = (try keychains.list(), try Self.name("build"))
        // A directory with content in the place of the file that replaces the list.
        let obstacle = directory.path + "/data/keychains.conf.draft"
        try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
        #expect(throws: KeychainError.self) { try Self.create("build", in: keychains) }
        #expect(try !keychains.contains(build) && keychains.list() == list)
        #expect(try !Self.leftovers(directory).contains { $0 == ".draft" || $0.hasPrefix("build") })
        #expect(throws: KeychainError.self) { try keychains.delete(try Self.name("old")) }
        #expect(try keychains.names() == [.login])
        try FileManager.default.removeItem(atPath: obstacle)
        for name in ["build", "old"] { try Self.create(name, in: keychains) }
        #expect(try keychains.list().search.map(\.text) == ["login", "build", "old"])
    }

    @Test("Keychains with paths that end alike are different ones, and keep their paths", .long)
    func paths() throws {
        let (keychains, directory) = try fixture()
        let long = "/" + String(repeating: "n", count: KeychainName.maxPathLength - 1)
        let paths = ["/a/build.keychain", "/a/build.keychain-db", "/b/build.keychain", long]
        for path in paths + ["build"] { try Self.create(path, in: keychains) }
        #expect(try keychains.names().map(\.text) == ["login", "build"] + paths)
        #expect(try keychains.keychains().places.suffix(4).map(\.path) == paths)
        #expect(
            try UserKeychains(KeychainHome(root: directory.path)).list().search.suffix(5).map(\.text) == paths + [
                "build"
            ])
        let homes = try Set((paths + ["build"]).map { keychains.home(of: try Self.name($0)).dataDirectory })
        #expect(homes.count == 5)
        let again = #expect(throws: KeychainError.self) { try Self.create("/b/build.keychain", in: keychains) }
        #expect(again?.status == .duplicateKeychain)
        try keychains.delete(try Self.name("/a/build.keychain"))
        #expect(try keychains.names().map(\.text) == ["login", "build"] + paths.dropFirst())
        for name in ["@a", "path-0"] {
            try Self.create(name, in: keychains)
            #expect(try keychains.names().map(\.text).contains(name))
            try keychains.delete(try Self.name(name))
        }
        // A directory that records another path than its own is not the directory of a keychain.
        let home = keychains.home(of: try Self.name("/b/build.keychain")).dataDirectory
        try Data("/c/build.keychain".utf8).write(to: URL(filePath: home + "/path"))
        #expect(try keychains.names().map(\.text) == ["login", "build", "/a/build.keychain-db", long])
    }

    @Test("The longest list that is possible is written and read")
    func longestList() throws {
        let names = try (0..<KeychainList.maxCount).map { number in
            try Self.name("/\(number)" + String(repeating: "n", count: KeychainName.maxPathLength - 3))
        }
        let (keychains, directory) = try fixture()
        try keychains.changeList { (list) throws(KeychainError) in try list.setSearch(names) }
        #expect(try UserKeychains(KeychainHome(root: directory.path)).list().search == names)
    }

    @Test("The search list and the default are changed as a whole; only the default must exist")
    func list() throws {
        let (keychains, directory) = try fixture()
        try Self.create("build", in: keychains)
        let build = try Self.name("build")
        try keychains.changeList { (list) throws(KeychainError) in
            try list.setSearch([build, .login, build])
            list.defaultKeychain = build
        }
        #expect(try keychains.list().search == [build, .login] && keychains.list().defaultKeychain == build)
        let other = try Self.name("other")
        let error = #expect(throws: KeychainError.self) {
            try keychains.changeList { (list) throws(KeychainError) in
                try list.setSearch([other])
                list.defaultKeychain = other
            }
        }
        #expect(error?.status == .noSuchKeychain)
        #expect(try keychains.list().search == [build, .login])
        try keychains.changeList { (list) throws(KeychainError) in try list.setSearch([other, build]) }
        #expect(try keychains.list().search == [other, build] && keychains.list().defaultKeychain == build)
        try keychains.changeList { (list) throws(KeychainError) in try list.setSearch([]) }
        #expect(try keychains.list().search == [])
        try keychains.delete(build)
        #expect(try keychains.list().defaultKeychain == .login)
        let path = URL(filePath: directory.path + "/data/keychains.conf")
        for text in ["", "default = login\nsearch = ../x\n", "search = login\n", "default = login\nunknown = x\n"] {
            try Data(text.utf8).write(to: path)
            let error = #expect(throws: KeychainError.self) { try keychains.list() }
            #expect(error?.status == .notAvailable && error?.hint != nil)
        }
    }

    @Test("Of several programs that create one keychain, one succeeds")
    func race() throws {
        let (keychains, directory) = try fixture()
        let outcomes = Mutex<[OSStatusCode?]>([])
        let group = DispatchGroup()
        for _ in 0..<4 {
            Thread.detachNewThread(in: group) {
                do {
                    try Self.create("build", in: keychains)
                    outcomes.withLock { $0.append(nil) }
                } catch {
                    outcomes.withLock { $0.append((error as? KeychainError)?.status) }
                }
            }
        }
        #expect(eventually { group.wait(timeout: .now()) == .success })
        let found = outcomes.withLock { $0 }
        #expect(found.count == 4 && found.count { $0 == nil } == 1)
        #expect(found.count { $0 == .duplicateKeychain } == 3)
        withExtendedLifetime(directory) {}
    }

    @Test("A link or a file in the place of a keychain is not one, and is not followed")
    func links() throws {
        let (keychains, directory) = try fixture()
        try Self.create("build", in: keychains)
        let place = directory.path + "/data/keychains"
        #expect(symlink("/etc", place + "/link.keychain-db") == 0)
        try Data().write(to: URL(filePath: place + "/file.keychain-db"))
        #expect(try keychains.names().map(\.text) == ["login", "build"])
        for name in ["link", "file"] {
            #expect(throws: KeychainError.self) { try Self.create(name, in: keychains) }
            #expect(throws: KeychainError.self) { try keychains.delete(try Self.name(name)) }
        }
        #expect(access("/etc/passwd", F_OK) == 0)
        #expect(try keychains.names().map(\.text) == ["login", "build"])
    }
}

extension Thread {
    fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        detachNewThread {
            body()
            group.leave()
        }
    }
}
