// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// Keychains on the command line, from their names to words that cannot be one.
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

    private func runAtHome(_ words: String...) throws -> Executable.Outcome {
        try FileManager.default.createDirectory(atPath: user, withIntermediateDirectories: true)
        return try Executable.run("latchkey", words, home: home, environment: ["HOME": user])
    }

    /// The home directory of the user.
    private var user: String { directory.path + "/user" }
    private var folder: String { user + "/Library/Keychains" }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The paths that `list-keychains` prints, without that of the login keychain.
    private func listed() throws -> [String] {
        try runAtHome("list-keychains").output.split(separator: "\n").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }.filter { !$0.hasSuffix("/keychain.db") }
    }

    // MARK: Names

    @Test("A name, its endings and its path in the home directory are one keychain; without a home directory, too")
    func names() throws {
        #expect(try run("create-keychain", "-p", "", "build.keychain").status == 0)
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build").status == 0)
        let printed = try #require(
            try run("list-keychains").output.split(separator: "\n").last?.trimmingCharacters(
                in: CharacterSet(charactersIn: " \"")))
        #expect(printed.hasSuffix("/keychains/build.keychain-db"))
        for name in ["build", "build.keychain", "build.keychain-db", "build-db", "./build.keychain", printed] {
            #expect(try run("find-generic-password", "-s", "s", "-w", name).output == "x\n", "\(name)")
        }
        // A keychain that was made without a file is found at the paths where macOS would have it.
        for name in [
            "build", "build.keychain", "\(folder)/build", "\(folder)/build.keychain", "\(folder)/build.keychain-db",
            "~/Library/Keychains/build.keychain", "\(user)/../user/Library/Keychains/build.keychain", printed,
        ] {
            #expect(try runAtHome("find-generic-password", "-s", "s", "-w", name).output == "x\n", "\(name)")
        }
        for path in ["/anywhere/build.keychain", "\(directory.path)/build.keychain-db", "/Library/Keychains/build"] {
            #expect(try runAtHome("find-generic-password", "-s", "s", "-w", path).status == 50, "\(path)")
        }
        #expect(try run("find-generic-password", "-s", "s", "login.keychain").status == 44)
        #expect(try run("-k", "build", "find-generic-password", "-s", "s", "-w").output == "x\n")
        #expect(try run("create-keychain", "-p", "", "build").status == 48)
        #expect(try runAtHome("create-keychain", "-p", "", "build").status == 48)
        #expect(!exists(folder + "/build-db"))
        #expect(try run("create-keychain", "-p", "", "a/b.keychain").status == 49)
    }

    @Test(
        "The file of a name has the ending that macOS gives it, and is the path that commands print",
        arguments: [
            ("build", "build-db"), ("build.keychain", "build.keychain-db"), ("build.keychain-db", "build.keychain-db"),
            (".hidden", ".hidden-db"), ("./dir/build.keychain", "dir/build.keychain-db"),
            ("fastlane_tmp_keychain", "fastlane_tmp_keychain-db"),
        ])
    func endings(_ word: String, _ file: String) throws {
        let path = folder + "/" + file
        #expect(try runAtHome("create-keychain", "-p", "", word).status == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("no secret") && text.contains("\(home)/data"), "\(text)")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try listed() == [path])
        #expect(try runAtHome("default-keychain", "-s", word).status == 0)
        #expect(try runAtHome("default-keychain").output == "    \"\(path)\"\n")
        #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", word).status == 0)
        let block = try runAtHome("find-generic-password", "-s", "s", path).output
        #expect(block.hasPrefix("keychain: \"\(path)\"\n"), "\(block)")
        let shown = try runAtHome("show-keychain-info", word).error
        #expect(shown.hasPrefix("Keychain \"\(path)\" "), "\(shown)")
        #expect(try runAtHome("delete-keychain", word).status == 0)
        #expect(!exists(path))
        #expect(try listed() == [])
    }

    // MARK: Paths

    @Test("A path is the keychain, with any name, as it is written; two paths that end alike are two keychains")
    func paths() throws {
        let words = ["one/build.keychain", "two/build.keychain", "two/build.keychain-db", "two/a b", "two/.x"]
        let paths = words.map { directory.path + "/" + $0 }
        for path in paths {
            #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
            #expect(exists(path) && !exists(path + "-db"))
            #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", path, path).status == 0)
        }
        #expect(try listed() == paths)
        for path in paths {
            #expect(try runAtHome("find-generic-password", "-s", "s", "-w", path).output == "\(path)\n")
            #expect(try runAtHome("-k", path, "find-generic-password", "-s", "s", "-w").output == "\(path)\n")
        }
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", "build.keychain").status == 50)
        #expect(try runAtHome("create-keychain", "-p", "", paths[0]).status == 48)
        let other = "\(directory.path)/two/../one/build.keychain"
        #expect(try runAtHome("create-keychain", "-p", "", other).status == 48)
        #expect(try runAtHome("delete-keychain", other).status == 0)
        #expect(!exists(paths[0]) && exists(paths[1]))
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", paths[1]).output == "\(paths[1])\n")
        #expect(try runAtHome("delete-keychain", paths[0]).status == 50)
    }

    @Test("Links to the directory or to the file are the same keychain, and a link to nothing is a file that exists")
    func links() throws {
        let files = FileManager.default
        let path = directory.path + "/real/build.keychain"
        #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
        #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", path).status == 0)
        try files.createSymbolicLink(
            atPath: directory.path + "/linked", withDestinationPath: directory.path + "/real")
        try files.createSymbolicLink(atPath: directory.path + "/file", withDestinationPath: path)
        for other in ["/linked/build.keychain", "/file"] {
            #expect(try runAtHome("find-generic-password", "-s", "s", "-w", directory.path + other).output == "x\n")
            #expect(try runAtHome("create-keychain", "-p", "", directory.path + other).status == 48)
        }
        let dangling = directory.path + "/dangling"
        try files.createSymbolicLink(atPath: dangling, withDestinationPath: directory.path + "/nothing")
        #expect(try runAtHome("create-keychain", "-p", "", dangling).status == 48)
        #expect(try files.destinationOfSymbolicLink(atPath: dangling) == directory.path + "/nothing")
        #expect(!exists(directory.path + "/nothing"))
        #expect(try runAtHome("delete-keychain", directory.path + "/linked/build.keychain").status == 0)
        #expect(!exists(path))
    }

    @Test("A keychain with a path is found only where its file is, and a new one begins without the old content")
    func removedFile() throws {
        let path = directory.path + "/build.keychain-db"
        #expect(try runAtHome("create-keychain", "-p", "pw", path).status == 0)
        try FileManager.default.removeItem(atPath: path)
        for words in [
            ["unlock-keychain", "-p", "pw"], ["find-generic-password", "-s", "s"], ["default-keychain", "-s"],
        ] {
            let outcome = try Executable.run("latchkey", words + [path], home: home, environment: ["HOME": user])
            #expect(outcome.status == 50, "\(words): \(outcome)")
        }
        // The list prints its entries, as on macOS, and status prints the stored keychains.
        #expect(try listed() == [path])
        #expect(try runAtHome("status").output.contains(path))
        #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
        #expect(exists(path))
        #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", path).status == 0)
        #expect(try listed() == [path])
        // The rest is deleted: a keychain without its file, and a file without its keychain.
        try FileManager.default.removeItem(atPath: path)
        #expect(try runAtHome("delete-keychain", path).status == 0)
        #expect(try listed() == [])
        #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
        try FileManager.default.removeItem(atPath: home + "/data/keychains")
        #expect(try runAtHome("show-keychain-info", path).status == 50)
        let refused = try runAtHome("create-keychain", "-p", "", path)
        #expect(refused.status == 48 && refused.error.contains("hint: security delete-keychain"), "\(refused)")
        #expect(try runAtHome("delete-keychain", path).status == 0)
        #expect(try !exists(path) && listed() == [])
        #expect(try runAtHome("delete-keychain", path).status == 50)
    }

    @Test("doctor, and the error at the max number of keychains, name those with a removed file", .long)
    func hiddenKeychains() throws {
        let paths = (1..<64).map { "\(directory.path)/it's \($0)" }
        let lines = paths.map { "create-keychain -p '' \"\($0)\"\n" }.joined()
        let created = try Executable.run("latchkey", ["-i"], home: home, environment: ["HOME": user], input: lines)
        #expect(created.status == 0 && created.error.isEmpty, "\(created)")
        #expect(paths.allSatisfy(exists))
        let full = try runAtHome("create-keychain", "-p", "", "another")
        #expect(full.status == 206 && !full.error.contains("delete-keychain"), "\(full)")
        #expect(try !runAtHome("doctor").output.contains("keychain files"))
        for path in paths.suffix(2) { try FileManager.default.removeItem(atPath: path) }
        let quoted = "'\(directory.path)/it'\\''s 62' '\(directory.path)/it'\\''s 63'"
        let doctor = try runAtHome("doctor")
        let expected = "the files of 2 keychains were removed; no command shows their items\n"
        #expect(doctor.status == 0 && doctor.output.contains("keychain files: \(expected)"), "\(doctor)")
        #expect(doctor.output.contains("security delete-keychain \(quoted)\n"), "\(doctor)")
        let refused = try runAtHome("create-keychain", "-p", "", "another")
        #expect(refused.status == 206, "\(refused)")
        #expect(refused.error.contains("the files of 2 of them were removed"), "\(refused)")
        #expect(refused.error.contains("hint: delete those too: security delete-keychain \(quoted)\n"), "\(refused)")
        // A new keychain takes the place of one of them.
        #expect(try runAtHome("create-keychain", "-p", "", paths[61]).status == 0)
        #expect(try runAtHome("delete-keychain", paths[62]).status == 0)
        #expect(try runAtHome("create-keychain", "-p", "", "another").status == 0)
    }

    @Test("The file of a keychain of another data directory is not used, and stays")
    func otherDataDirectory() throws {
        func runElsewhere(_ words: String...) throws -> Executable.Outcome {
            try Executable.run("latchkey", words, home: directory.path + "/other", environment: ["HOME": user])
        }
        let path = directory.path + "/it's.keychain"
        let quoted = "'\(directory.path)/it'\\''s.keychain'"
        #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
        #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", path).status == 0)
        let refused = try runElsewhere("create-keychain", "-p", "", path)
        #expect(refused.status == 48, "\(refused)")
        let hint = "hint: name another path; cat \(quoted) shows where its items are\n"
        #expect(refused.error.contains(hint), "\(refused)")
        for words in [["delete-keychain"], ["find-generic-password", "-s", "s"]] {
            let outcome = try Executable.run(
                "latchkey", words + [path], home: directory.path + "/other", environment: ["HOME": user])
            #expect(outcome.status == 50, "\(words): \(outcome)")
        }
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", path).output == "x\n")
        // If the file of a keychain meanwhile belongs to another data directory, only the items are deleted.
        try FileManager.default.removeItem(atPath: path)
        #expect(try runElsewhere("create-keychain", "-p", "", path).status == 0)
        #expect(try runAtHome("find-generic-password", "-s", "s", path).status == 50)
        #expect(try runAtHome("delete-keychain", path).status == 0)
        #expect(exists(path))
        #expect(try runElsewhere("show-keychain-info", path).status == 0)
        // A data directory that was moved keeps its keychains.
        try FileManager.default.moveItem(atPath: directory.path + "/other", toPath: home + "-moved")
        let moved = try Executable.run(
            "latchkey", ["delete-keychain", path], home: home + "-moved", environment: ["HOME": user])
        #expect(moved.status == 0 && !exists(path), "\(moved)")
    }

    @Test("Two names that a person reads alike are two keychains")
    func composedNames() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        for name in [composed, decomposed] {
            #expect(try runAtHome("create-keychain", "-p", "", name).status == 0)
            #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", name).status == 0)
        }
        #expect(try runAtHome("delete-keychain", composed).status == 0)
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", decomposed).output == "x\n")
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", composed).status == 50)
    }

    @Test("A keychain with a name is found without its file, and is never replaced")
    func removedFileOfName() throws {
        #expect(try runAtHome("create-keychain", "-p", "", "build").status == 0)
        #expect(try runAtHome("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build").status == 0)
        try FileManager.default.removeItem(atPath: folder + "/build-db")
        #expect(try runAtHome("find-generic-password", "-s", "s", "-w", folder + "/build").output == "x\n")
        #expect(try runAtHome("create-keychain", "-p", "", "build").status == 48)
        #expect(!exists(folder + "/build-db"))
        #expect(try runAtHome("delete-keychain", "build").status == 0)
    }

    @Test("Where the file cannot be created, nothing is created")
    func unwritable() throws {
        let file = directory.path + "/file"
        try Data().write(to: URL(filePath: file))
        let outcome = try runAtHome("create-keychain", "-p", "", file + "/build.keychain")
        #expect(outcome.status != 0 && outcome.error.contains(file), "\(outcome)")
        let long = directory.path + "/" + String(repeating: "n", count: 256)
        #expect(try runAtHome("create-keychain", "-p", "", long).status != 0)
        #expect(
            try runAtHome("create-keychain", "-p", "", "/" + String(repeating: "n/", count: 600) + "n").status == 49)
        #expect(try listed() == [])
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(Set(left).isSubset(of: ["file", "home", "user"]) && !exists(home + "/data/keychains"), "\(left)")
    }

    @Test("In a home directory that is not one, or cannot be written, a keychain with a name has no file")
    func withoutHome() throws {
        for (number, place) in ["/", "/nonexistent", "relative", ""].enumerated() {
            let outcome = try Executable.run(
                "latchkey", ["create-keychain", "-p", "", "k\(number)"], home: home, environment: ["HOME": place])
            #expect(outcome == Executable.Outcome(status: 0, output: "", error: ""), "\(place)")
        }
        guard geteuid() != 0 else {
            return reportSkipped("a home directory that cannot be written: root writes anywhere")
        }
        let blocked = directory.path + "/blocked"
        try FileManager.default.createDirectory(
            atPath: blocked, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o500])
        let outcome = try Executable.run(
            "latchkey", ["create-keychain", "-p", "", "build"], home: home, environment: ["HOME": blocked])
        #expect(outcome.status == 0 && outcome.error.hasPrefix("security: note: there is no file at "), "\(outcome)")
        #expect(try run("show-keychain-info", "build").status == 0)
    }

    @Test(
        "Of several processes that create one keychain, one succeeds, and the file stays",
        arguments: ["build", "/build"])
    func race(_ word: String) throws {
        try FileManager.default.createDirectory(atPath: user, withIntermediateDirectories: true)
        let word = word == "/build" ? directory.path + word : word
        let environment = ["LATCHKEY_HOME": home, "LATCHKEY_NO_DAEMON": "1", "HOME": user, "PATH": "/usr/bin:/bin"]
        let processes = try (0..<6).map { number in
            try SpawnedProcess(
                [Executable.path("latchkey"), "create-keychain", "-p", "", word], environment: environment,
                output: "\(directory.path)/output-\(number)")
        }
        let outcomes = processes.map { $0.awaitExit() }
        #expect(outcomes.sorted() == [0, 48, 48, 48, 48, 48])
        let path = word == "build" ? folder + "/build-db" : word
        #expect(exists(path))
        #expect(try listed() == [path])
    }

    @Test(
        "An invalid name or path of a keychain creates nothing",
        arguments: ["..", "../x", "a/../b.keychain", "a\u{1B}[2Jb", "a\nb", "", "/", "/tmp/..", "x/"])
    func invalid(_ name: String) throws {
        for outcome in [try run("create-keychain", "-p", "", name), try runAtHome("create-keychain", "-p", "", name)] {
            #expect(outcome.status == 49, "\(outcome)")
            #expect(!outcome.error.isEmpty && !outcome.error.contains("\u{1B}"))
        }
        #expect(!exists(home + "/data/keychains") && !exists(user + "/Library"))
    }

    @Test("A file of macOS, another file, or a link in the place of a keychain is no keychain, and stays")
    func foreign() throws {
        let file = directory.path + "/mac.keychain-db"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for path in [file, "\(folder)/old", "\(folder)/new.keychain-db"] {
            try Data("kych".utf8).write(to: URL(filePath: path))
        }
        for word in [file, "old", "new.keychain", "\(folder)/new.keychain", directory.path] {
            let created = try runAtHome("create-keychain", "-p", "", word)
            #expect(created.status == 48 && created.error.contains("is not a keychain of Latchkey"), "\(created)")
            for command in ["unlock-keychain", "delete-keychain"] {
                let outcome = try runAtHome(command, word)
                #expect(outcome.status == 49 && outcome.error.contains("not a keychain of Latchkey"), "\(outcome)")
            }
        }
        for path in [file, "\(folder)/old", "\(folder)/new.keychain-db"] {
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("kych".utf8))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        #expect(try run("create-keychain", "-p", "", "first").status == 0)
        let place = home + "/data/keychains/linked.keychain-db"
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: directory.path)
        #expect(try run("find-generic-password", "-s", "s", "linked").status == 50)
        #expect(try run("create-keychain", "-p", "", "linked").status == 49)
        #expect(try run("delete-keychain", "linked").status == 50)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == directory.path)
        // A file that has replaced that of a keychain is no keychain.
        let path = directory.path + "/build.keychain"
        #expect(try runAtHome("create-keychain", "-p", "", path).status == 0)
        try Data("kych".utf8).write(to: URL(filePath: path))
        #expect(try runAtHome("show-keychain-info", path).status == 49)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("kych".utf8))
    }

    // MARK: Commands

    @Test(
        "A keychain with an empty password is locked with a note, and unlocked; a login keychain without a passcode is not"
    )
    func emptyPassword() throws {
        #expect(try run("create-keychain", "-p", "", "build").status == 0)
        for _ in 0..<2 {
            let locked = try run("lock-keychain", "build")
            #expect(locked.status == 0 && locked.output.isEmpty, "\(locked)")
            #expect(locked.error.hasPrefix("security: note: ") && locked.error.contains("empty password"), "\(locked)")
            #expect(
                try run("unlock-keychain", "-p", "", "build") == Executable.Outcome(status: 0, output: "", error: ""))
        }
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build").status == 0)
        #expect(try run("find-generic-password", "-s", "s", "-w", "build").output == "x\n")
        #expect(try run("lock-keychain", "login").status == 206)
    }

    @Test("The password of a partition list is checked, and opens a locked keychain, as on macOS", .long)
    func partitionPassword() throws {
        for (name, password) in [("build", "pw"), ("empty", "")] {
            #expect(try run("create-keychain", "-p", password, name).status == 0)
        }
        let list = ["set-generic-password-partition-list", "-S", "apple:", "-s", "s"]
        func set(_ password: String, _ keychain: String, input: String? = nil) throws -> Executable.Outcome {
            try Executable.run("latchkey", list + ["-k", password, keychain], home: home, input: input)
        }
        func wrong(_ function: String) -> String {
            ": \(function): The user name or passphrase you entered is not correct.\n"
        }
        let pass = directory.path + "/pass"
        _ = FileManager.default.createFile(
            atPath: pass, contents: Data("pw\n".utf8), attributes: [.posixPermissions: 0o600])
        let added = try Executable.run(
            "latchkey", ["add-generic-password", "-a", "a", "-s", "s", "-w", "x", "build"], home: home,
            environment: ["LATCHKEY_PASSCODE_FILE": pass])
        #expect(added.status == 0, "\(added)")
        // Locked: without a daemon, each process has its own lock.
        for password in ["WRONG", ""] {
            let outcome = try set(password, "build")
            #expect(outcome.status == 1 && outcome.error.contains(wrong("SecKeychainUnlock")), "\(outcome)")
        }
        #expect(try set("pw", "build").status == 0)
        // Unlocked.
        let unlocked = try Executable.run(
            "latchkey", list + ["-k", "WRONG", "build"], home: home, environment: ["LATCHKEY_PASSCODE_FILE": pass])
        let expected = wrong("SecKeychainItemSetAccessWithPassword")
        #expect(unlocked.status == 1 && unlocked.error.contains(expected), "\(unlocked)")
        #expect(try run("add-generic-password", "-a", "a", "-s", "s", "-w", "x", "empty").status == 0)
        #expect(try set("WRONG", "empty").error.contains(expected))
        #expect(try set("", "empty").status == 0)
        #expect(try set("pw", "missing").status == 50)
        // Of several keychains, none is changed if the password is not that of all of them.
        func partitions(_ keychain: String) throws -> String {
            let dump = try Executable.run(
                "latchkey", ["dump-keychain", "-a", keychain], home: home,
                environment: ["LATCHKEY_PASSCODE_FILE": pass])
            return dump.output
        }
        #expect(try partitions("empty").contains("apple:"))
        let changed = try Executable.run(
            "latchkey", ["set-generic-password-partition-list", "-S", "other:", "-s", "s", "-k", "", "empty", "build"],
            home: home, environment: ["LATCHKEY_PASSCODE_FILE": pass])
        #expect(changed.status == 1, "\(changed)")
        #expect(try partitions("empty").contains("apple:") && !partitions("empty").contains("other:"))
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
        for name in [roots, "System.keychain", "/Library/Keychains/System.keychain"] {
            #expect(try run("create-keychain", "-p", "", name).status == 48)
        }
    }

    @Test(
        "A piped password of a new keychain is one line or two equal ones; two different ones are macOS's error", .long)
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

    @Test("A list may name a missing keychain, and one that was deleted by hand is passed over")
    func gone() throws {
        #expect(try run("create-keychain", "-p", "", "build").status == 0)
        #expect(try run("default-keychain", "-s", "missing").status == 50)
        let later = directory.path + "/later.keychain"
        let listed = try run("list-keychains", "-s", "login", "build", later)
        #expect(listed.status == 0 && listed.output.isEmpty, "\(listed)")
        #expect(listed.error == "security: note: there is no keychain '\(later)'; it is searched once it exists\n")
        #expect(try run("list-keychains").output.hasSuffix("    \"\(later)\"\n"))
        #expect(try run("create-keychain", "-p", "", later).status == 0)
        #expect(try run("add-generic-password", "-a", "a", "-s", "later", "-w", "y", later).status == 0)
        #expect(try run("find-generic-password", "-s", "later", "-w").output == "y\n")
        try FileManager.default.removeItem(atPath: home + "/data/keychains/build.keychain-db")
        #expect(try run("list-keychains").output.split(separator: "\n").count == 3)
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
        // A command line with one keychain that cannot be deleted deletes none.
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
