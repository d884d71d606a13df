// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Keychains on the command line, from their names to what cannot be one.
@Suite("Keychains on the command line")
struct KeychainOperandTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/home" }

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ words: String...) throws -> Executable.Outcome {
        try Executable.run("latchkey", words, home: home)
    }

    private struct Status: Decodable {
        struct WrongPasscodes: Decodable { let count: Int }
        let wrongPasscodes: WrongPasscodes?
    }

    /// The number of wrong passwords that a keychain has counted; nil for none.
    private func wrong(_ name: String) throws -> Int? {
        let status = try run("-k", name, "status", "--json").output
        return try JSONDecoder().decode(Status.self, from: Data(status.utf8)).wrongPasscodes?.count
    }

    @Test("A name, a name with macOS's ending, and a path anywhere are the same keychain")
    func names() throws {
        #expect(try run("create-keychain", "-p", "", "\(directory.path)/build.keychain-db").status == 0)
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build.keychain").status == 0)
        let printed = try run("list-keychains").output.split(separator: "\n").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
        #expect(printed.count == 2 && printed.last?.hasSuffix("/keychains/build.keychain-db") == true)
        let path = try #require(printed.last)
        for name in [
            "build", "build.keychain", "build.keychain-db", "/anywhere/build.keychain", "./build.keychain", path,
        ] {
            #expect(try run("find-generic-password", "-s", "s", "-w", name).output == "x\n", "\(name)")
        }
        #expect(try run("find-generic-password", "-s", "s", "login.keychain").status == 44)
        #expect(try run("-k", "build", "find-generic-password", "-s", "s", "-w").output == "x\n")
        #expect(try run("create-keychain", "-p", "", "/other/build.keychain").status == 48)
    }

    @Test(
        "What cannot be the name of a keychain creates nothing",
        arguments: [
            "..", "../x", "a/../b.keychain", "/tmp/file", ".hidden", "a\u{1B}[2Jb", "a\nb", "", ".keychain", "/",
        ])
    func invalid(_ name: String) throws {
        let outcome = try run("create-keychain", "-p", "", name)
        #expect([49, 50].contains(outcome.status), "\(outcome)")
        #expect(!outcome.error.isEmpty && !outcome.error.contains("\u{1B}"))
        #expect(!FileManager.default.fileExists(atPath: home + "/data/keychains"))
    }

    @Test("A file of macOS, or a link in the place of a keychain, is no keychain, and stays")
    func foreign() throws {
        let file = directory.path + "/mac.keychain-db"
        try Data("kych".utf8).write(to: URL(filePath: file))
        for words in [["create-keychain", "-p", "", file], ["unlock-keychain", "-p", "x", file]] {
            let outcome = try Executable.run("latchkey", words, home: home)
            #expect(outcome.status == 49 && outcome.error.contains("not a keychain of Latchkey"), "\(outcome)")
        }
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("kych".utf8))
        #expect(try run("create-keychain", "-p", "", "first").status == 0)
        let place = home + "/data/keychains/linked.keychain-db"
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: directory.path)
        #expect(try run("find-generic-password", "-s", "s", "linked").status == 50)
        #expect(try run("create-keychain", "-p", "", "linked").status == 49)
        #expect(try run("delete-keychain", "linked").status == 50)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == directory.path)
    }

    @Test("Keychains of the system are read, and never changed")
    func system() throws {
        let roots = "/System/Library/Keychains/SystemRootCertificates.keychain"
        #expect(try run("find-certificate", "-a", "-p", roots).status == 0)
        #expect(try run("find-generic-password", "-s", "s", "System.keychain").status == 44)
        for words in [
            ["add-generic-password", "-a", "a", "-s", "s", "-w", "x", roots],
            ["unlock-keychain", "-p", "x", "System.keychain"],
            ["set-keychain-settings", roots], ["lock-keychain", roots],
        ] {
            let outcome = try Executable.run("latchkey", words, home: home)
            #expect(outcome.status == 52, "\(words): \(outcome)")
        }
        #expect(try run("delete-keychain", roots).status == 52)
    }

    @Test("A piped password of a new keychain is one line or two equal ones; two different ones are macOS's error")
    func pipedPassword() throws {
        func pipe(_ input: String, _ words: String...) throws -> Executable.Outcome {
            try Executable.run("latchkey", words, home: home, input: input)
        }
        for (name, input) in [("one", "pw\n"), ("two", "pw\npw\n"), ("three", "pw\npw")] {
            #expect(try pipe(input, "create-keychain", name).status == 0)
            #expect(try pipe("pw\nnew\nnow\n", "set-keychain-password", name).error == "passwords don't match\n")
            #expect(try pipe("pw\nnew\nnew\n", "set-keychain-password", name).status == 0)
            #expect(try run("set-keychain-password", "-o", "new", "-p", "last", name).status == 0)
        }
        for input in ["pw\nwp\n", "pw\n\n", "\npw"] {
            let outcome = try pipe(input, "create-keychain", "four")
            #expect(outcome.status == 1 && outcome.error == "passwords don't match\n", "\(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: home + "/data/keychains/four.keychain-db"))
    }

    @Test("Each keychain counts its own wrong passwords")
    func wrongPasswords() throws {
        for name in ["one", "two"] { #expect(try run("create-keychain", "-p", "pw", name).status == 0) }
        let commands = "unlock-keychain -p wrong one\nunlock-keychain -p pw two\n"
        let outcome = try Executable.run("latchkey", ["-i"], home: home, input: commands)
        #expect(outcome.status == 0 && outcome.error.contains("returned"), "\(outcome)")
        #expect(try wrong("one") == 1)
        #expect(try wrong("two") == nil)
    }

    @Test("A list that names what is gone is refused, and a keychain that was deleted by hand is passed over")
    func gone() throws {
        #expect(try run("create-keychain", "-p", "", "build").status == 0)
        #expect(try run("list-keychains", "-s", "build", "missing").status == 50)
        #expect(try run("list-keychains").output.split(separator: "\n").count == 2)
        #expect(try run("default-keychain", "-s", "missing").status == 50)
        try FileManager.default.removeItem(atPath: home + "/data/keychains/build.keychain-db")
        #expect(try run("list-keychains").output.split(separator: "\n").count == 1)
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x").status == 0)
        #expect(try run("find-generic-password", "-s", "s", "-w").output == "x\n")
    }

    @Test("A keychain of the search list that cannot be opened is passed over with a note, also by the list itself")
    func damaged() throws {
        for name in ["one", "two"] { #expect(try run("create-keychain", "-p", "", name).status == 0) }
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "two").status == 0)
        let database = home + "/data/keychains/one.keychain-db/keychain.db"
        for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + name) }
        try Data(repeating: 0x55, count: 4096).write(to: URL(filePath: database))
        #expect(try run("list-keychains").output.split(separator: "\n").count == 3)
        #expect(try run("find-generic-password", "-s", "s", "-w").output == "x\n")
        let dumped = try run("dump-keychain")
        #expect(dumped.status == 0 && dumped.output.contains("\"svce\"<blob>=\"s\""), "\(dumped)")
        #expect(dumped.error.contains("one.keychain-db is passed over"))
        #expect(try run("find-generic-password", "-s", "s", "one").status != 0)
        #expect(try run("lock-keychain", "-a").status == 0)
        // What the command line cannot delete in part, it does not begin to delete.
        #expect(try run("delete-keychain", "two", "login.keychain").status == 206)
        #expect(try run("find-generic-password", "-s", "s", "-w", "two").output == "x\n")
    }

    @Test("Backup, restoration and doctor work on the keychain that is named, and doctor on all of them")
    func wholeKeychains() throws {
        try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: directory.path + "/pass"))
        for name in ["one", "two"] { #expect(try run("create-keychain", "-p", "", name).status == 0) }
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "one").status == 0)
        let (file, pass) = (directory.path + "/backup", "purple monkey dishwasher\n")
        let backup = try Executable.run("latchkey", ["-k", "one", "backup", file], home: home, input: pass)
        #expect(backup.status == 0, "\(backup)")
        let restored = try Executable.run("latchkey", ["-k", "two", "restore", file], home: home, input: pass)
        #expect(restored.status == 0, "\(restored)")
        #expect(try run("find-generic-password", "-s", "s", "-w", "two").output == "x\n")
        #expect(try run("find-generic-password", "-s", "s", "login").status == 44)
        let doctor = try run("doctor")
        #expect(doctor.status == 0 && doctor.output.contains("two: rows"), "\(doctor)")
        let status = try run("status").output
        #expect(status.contains("two, searched as number 3"), "\(status)")
    }
}
