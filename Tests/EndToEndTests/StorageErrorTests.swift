// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyService
import SecretMemory
import Testing

/// Errors of the file system: each has a separate status, message and hint, and destroys nothing.
@Suite("Storage errors")
struct StorageErrorTests {
    private let caller = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)

    /// Whether a file system can be mounted here: in a container even root may not be allowed to
    /// (CAP_SYS_ADMIN).
    static let canMount: Bool = {
        guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
        let mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "latchkey-test", directory.path]
        guard (try? Executable.run("/usr/bin/env", mount, home: ""))?.status == 0 else { return false }
        return (try? Executable.run("/usr/bin/env", ["umount", directory.path], home: ""))?.status == 0
    }()

    @Test(
        "Directories and files that others can access are refused with the path and a chmod hint",
        arguments: ["data", "state", "data/keychain.db", "state/device.key"])
    func widePermissions(_ path: String) throws {
        let home = try made()
        let mode = path.contains(".") ? 0o644 : 0o755
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(home.path)/\(path)")
        let error = try #require(throws: KeychainError.self) { try open(home) }
        #expect(error.status == .notAvailable)
        #expect(error.problem.contains("\(home.path)/\(path)"))
        #expect(error.hint == "chmod \(path.contains(".") ? "600" : "700") \(home.path)/\(path)")
    }

    @Test("An emptied database is refused; one with an interrupted creation is created")
    func emptied() throws {
        let home = try made()
        let path = "\(home.path)/data/keychain.db"
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(home.path)/data") where name != "keychain.db"
        {
            try FileManager.default.removeItem(atPath: "\(home.path)/data/\(name)")
        }
        #expect(truncate(path, 0) == 0)
        let error = try #require(throws: KeychainError.self) { try open(home) }
        #expect(error.problem.contains("it is empty"))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0)
        // The marker of a first process that was killed before it had created the tables.
        _ = FileManager.default.createFile(atPath: "\(path).new", contents: nil, attributes: [.posixPermissions: 0o600])
        let service = try open(home)
        _ = try service.items.add(ItemAddition(.genericPassword), from: caller)
        service.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(home.path)/data")
        #expect(files.sorted() == ["keychain.db", "keychain.db-reserve"])
    }

    @Test("Many processes that create the keychain concurrently all get the same one")
    func manyFirst() throws {
        for _ in 0..<5 {
            let home = try TemporaryDirectory()
            let processes = (0..<8).map {
                Executable.process(
                    "latchkey", ["add-generic-password", "-a", "account \($0)", "-s", "proof", "-w", "x"],
                    home: home.path)
            }
            for process in processes { try process.start() }
            #expect(processes.map { $0.awaitExit() } == Array(repeating: 0, count: 8))
            let keychain = try ReopenedKeychain(home)
            #expect(Set(try keychain.accounts()).count == 8)
            keychain.service.close()
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(home.path)/data")
            #expect(
                files.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
                    == ["keychain.db", "keychain.db-reserve"])
        }
    }

    @Test("All created files are private regardless of the umask")
    func privateByDefault() throws {
        let home = try TemporaryDirectory()
        let before = umask(0)
        defer { umask(before) }
        let service = try open(home)
        _ = try service.items.add(ItemAddition(.genericPassword), from: caller)
        for path in [
            "data", "state", "data/keychain.db", "data/keychain.db-wal", "data/keychain.db-shm",
            "data/keychain.db-reserve", "state/device.key",
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(home.path)/\(path)")
            let expected = path.contains(".") ? 0o600 : 0o700
            #expect(attributes[.posixPermissions] as? Int == expected, "\(path)")
        }
        service.close()
    }

    @Test("A umask that removes the owner's own permissions is harmless")
    func narrowUmask() throws {
        let home = try TemporaryDirectory()
        let before = umask(0o377)
        let service = try open(home)
        umask(before)
        service.close()
        for path in ["data", "state", "data/keychain.db", "state/device.key"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(home.path)/\(path)")
            #expect(attributes[.posixPermissions] as? Int == (path.contains(".") ? 0o600 : 0o700), "\(path)")
        }
    }

    @Test("Opening the keychain twice in one process keeps SQLite's locks and loses nothing")
    func openedTwice() throws {
        let home = try TemporaryDirectory()
        let first = try open(home)
        _ = try first.items.add(ItemAddition(.genericPassword, attributes: [.account: .string("one")]), from: caller)
        try open(home).close()
        // Another process that opens and closes the database would delete the write-ahead log if it
        // were the last one.
        #expect(try Executable.run("ProofWorker", ["add", "other"], home: home.path).status == 0)
        _ = try first.items.add(ItemAddition(.genericPassword, attributes: [.account: .string("two")]), from: caller)
        let reader = try Executable.run("latchkey", ["find-generic-password", "-a", "two", "-w"], home: home.path)
        #expect(reader.status == 0, "\(reader)")
        first.close()
    }

    @Test(
        "A write to a database that was deleted or replaced while open is refused and not acknowledged",
        arguments: [false, true])
    func replaced(_ isReplaced: Bool) throws {
        let home = try TemporaryDirectory()
        let service = try open(home)
        _ = try service.items.add(ItemAddition(.genericPassword, attributes: [.account: .string("one")]), from: caller)
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: "\(home.path)/data/keychain.db\(suffix)")
        }
        if isReplaced { #expect(try Executable.run("ProofWorker", ["add", "other"], home: home.path).status == 0) }
        let two = ItemAddition(.genericPassword, attributes: [.account: .string("two")])
        let error = try #require(throws: KeychainError.self) { try service.items.add(two, from: caller) }
        #expect(error.status == .notAvailable)
        #expect(error.problem.contains("deleted or replaced"))
        service.close()
    }

    @Test("A pipe in place of the device key is refused without waiting")
    func pipe() throws {
        let home = try made()
        try FileManager.default.removeItem(atPath: "\(home.path)/state/device.key")
        #expect(mkfifo("\(home.path)/state/device.key", 0o600) == 0)
        #expect(throws: KeychainError.self) { try open(home) }
    }

    @Test("A database without its device key is refused, and no new device key is created")
    func missingDeviceKey() throws {
        let home = try made()
        try FileManager.default.removeItem(atPath: "\(home.path)/state/device.key")
        let error = try #require(throws: KeychainError.self) { try open(home) }
        #expect(error.status == .notAvailable)
        #expect(error.problem.contains("device key is missing"))
        #expect(!FileManager.default.fileExists(atPath: "\(home.path)/state/device.key"))
    }

    @Test("A device key of another keychain or of another length is distinguished from damage")
    func foreignDeviceKey() throws {
        let home = try made()
        let key = "\(home.path)/state/device.key"
        let right = try Data(contentsOf: URL(filePath: key))
        try replace(key, Data(count: 32))
        #expect(try #require(throws: KeychainError.self) { try open(home) }.problem.contains("another keychain"))
        try replace(key, Data(count: 31))
        #expect(
            try #require(throws: KeychainError.self) { try open(home) }.problem.contains("expected 32 bytes, found 31"))
        try replace(key, right)
        _ = try open(home)
    }

    @Test("T208, T209: a garbage database is refused and never replaced")
    func garbage() throws {
        let home = try made()
        let path = "\(home.path)/data/keychain.db"
        let garbage = Data("this is no database, but it is long enough to look at ".utf8) + Data(count: 4096)
        try replace(path, garbage)
        let error = try #require(throws: KeychainError.self) { try open(home) }
        #expect(error.status == .notAvailable)
        #expect(error.hint?.contains("never replaced") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == garbage)
    }

    @Test("The database of another program is refused")
    func foreignDatabase() throws {
        let home = try made()
        let path = "\(home.path)/data/keychain.db"
        try FileManager.default.removeItem(atPath: path)
        try sqlite(path, "CREATE TABLE t (x); PRAGMA user_version = 1;")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try #require(throws: KeychainError.self) { try open(home) }.problem.contains("another program"))
    }

    @Test("A database of a newer version is refused and not changed")
    func newerVersion() throws {
        let home = try made()
        let path = "\(home.path)/data/keychain.db"
        try sqlite(path, "PRAGMA user_version = 99;")
        let before = try Data(contentsOf: URL(filePath: path))
        let error = try #require(throws: KeychainError.self) { try open(home) }
        #expect(error.status == .wrongSecVersion)
        #expect(error.problem.contains("99"))
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test(
        "An unexpected table, trigger, view or index is refused",
        arguments: [
            "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END", "CREATE VIEW v AS SELECT * FROM item",
            "CREATE TABLE extra (x)", "DROP INDEX item_svce",
        ])
    func foreignSchema(_ statement: String) throws {
        let home = try made()
        try sqlite("\(home.path)/data/keychain.db", statement)
        #expect(
            try #require(throws: KeychainError.self) { try open(home) }.problem.contains(
                "not those of a version 4 keychain"))
    }

    @Test("A database that is a directory and a missing home have distinct statuses")
    func directoryAndMissingHome() throws {
        let home = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: "\(home.path)/data/keychain.db", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(home.path)/data")
        #expect(try #require(throws: KeychainError.self) { try open(home) }.status == .invalidKeychain)

        let error = try #require(throws: KeychainError.self) { try KeychainHome.resolve { _ in nil } }
        #expect(error.status == .noDefaultKeychain)
        #expect(error.hint?.contains("LATCHKEY_HOME") == true)
    }

    @Test("If another tool has created a readable directory in XDG_DATA_HOME, the error names it and the chmod")
    func wideDataHome() throws {
        let directory = try TemporaryDirectory()
        let data = "\(directory.path)/share/latchkey"
        try FileManager.default.createDirectory(
            atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let environment = [
            "XDG_DATA_HOME": "\(directory.path)/share", "XDG_STATE_HOME": "\(directory.path)/state",
            "XDG_RUNTIME_DIR": directory.path,
        ]
        let outcome = try Executable.run("ProofWorker", ["once"], home: "", environment: environment)
        #expect(outcome.output.hasPrefix("-25291 "), "\(outcome)")
        #expect(outcome.output.contains(data) && outcome.output.contains("hint: chmod 700 \(data)"), "\(outcome)")
    }

    @Test(
        "No keychain is created where every user can replace its directories; an existing one is read, and doctor names the chmod",
        arguments: [0o777, 0o1777])
    func openParent(_ mode: Int) throws {
        let directory = try TemporaryDirectory()
        let parent = "\(directory.path)/parent"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        try #require(chmod(parent, mode_t(mode)) == 0)
        let home = KeychainHome(root: "\(parent)/home")
        if mode == 0o777 {
            let error = try #require(throws: KeychainError.self) { try EmbeddedService(home: home) }
            #expect(error.status == .notAvailable && error.hint == "chmod o-w '\(parent)'", "\(error)")
            #expect(error.problem.contains("every user can write \(parent)"))
            #expect(throws: KeychainError.self) { try HomeOwnership.acquire(home) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == [], "nothing is created")
            try #require(chmod(parent, 0o700) == 0)
        }
        let made = try EmbeddedService(home: home)
        _ = try made.items.add(ItemAddition(.genericPassword), from: caller)
        made.close()
        try #require(chmod(parent, mode_t(mode)) == 0)
        let service = try EmbeddedService(home: home)
        defer { service.close() }
        #expect(
            try service.items.copyMatching(ItemQuery(.genericPassword), returning: .data, from: caller).records.count
                == 1)
        let finding = try #require(try service.check { _ in }.first { $0.subject == "parent directories" })
        #expect(finding.isHealthy == (mode == 0o1777))
        #expect(finding.hint == (mode == 0o1777 ? nil : "chmod o-w '\(parent)'"))
    }

    @Test("The environment determines the path of the keychain")
    func homes() throws {
        let both = try KeychainHome.resolve { ["HOME": "/home/u"][$0] }
        #expect(both.databasePath == "/home/u/.local/share/latchkey/keychain.db")
        #expect(both.deviceKeyPath == "/home/u/.local/state/latchkey/device.key")
        let xdg = try KeychainHome.resolve {
            ["HOME": "/home/u", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "relative"][$0]
        }
        #expect(xdg.dataDirectory == "/d/latchkey")
        #expect(xdg.stateDirectory == "/home/u/.local/state/latchkey", "a relative XDG path is ignored")
        #expect(
            try KeychainHome.resolve { ["LATCHKEY_HOME": "/l", "HOME": "/h"][$0] }.databasePath == "/l/data/keychain.db"
        )
    }

    // MARK: As another user

    @Test(
        "T210: a user without access to the home gets an error, and nothing is created",
        .enabled(if: geteuid() == 0, "needs root to become another user"))
    func noPermission() throws {
        let home = try made()
        // Another user has no access to a private clone, nor to libraries that a process loads from
        // it later.
        let executables = try SharedExecutables(["ProofWorker"])
        let outcome = try Executable.run(executables.path("ProofWorker"), ["once", "65534"], home: home.path)
        #expect(outcome.output.hasPrefix("-25291 "), "\(outcome)")
        #expect(
            outcome.output.contains("Permission denied") || outcome.output.contains("belongs to user"), "\(outcome)")
    }

    @Test(
        "A keychain on a read-only file system can be read; every change fails with errSecReadOnly, and no files are left behind",
        .enabled(if: canMount, "needs root with the right to mount"))
    func readOnly() throws {
        try withMountedHome("size=4m") { home in
            let added = try Executable.run(
                "latchkey", ["add-generic-password", "-a", "a", "-s", "s", "-w", "the secret"], home: home)
            try #require(added.status == 0, "\(added)")
            // This program ends without closing the keychain, and leaves the write-ahead log
            // behind.
            #expect(try Executable.run("ProofWorker", ["once"], home: home).output.hasPrefix("0 "))
            try shell("mount", "-o", "remount,ro", home)
            let before = try FileManager.default.subpathsOfDirectory(atPath: home).sorted()
            let found = try Executable.run("latchkey", ["find-generic-password", "-a", "a", "-w"], home: home)
            #expect(found.status == 0 && found.output == "the secret\n", "\(found)")
            for line in ["status", "doctor"] {
                let outcome = try Executable.run("latchkey", [line], home: home)
                #expect(outcome.status == 0, "\(outcome)")
            }
            for line in [
                ["add-generic-password", "-a", "b", "-s", "s", "-w", "x"],
                ["add-generic-password", "-U", "-a", "a", "-s", "s", "-w", "x"],
                ["delete-generic-password", "-a", "a"],
            ] {
                let outcome = try Executable.run("latchkey", line, home: home)
                #expect(outcome.status == 52, "\(outcome)")
                #expect(
                    outcome.error.contains("read-only file system")
                        && outcome.error.contains("hint: mount it read-write"), "\(outcome)")
            }
            #expect(try Executable.run("ProofWorker", ["once"], home: home).output.hasPrefix("-25292 "))
            // Several programs can have the keychain open at the same time.
            let (first, second) = (
                try EmbeddedService(home: KeychainHome(root: home)), try EmbeddedService(home: KeychainHome(root: home))
            )
            for service in [first, second] {
                let query = ItemQuery(.genericPassword, limit: .all)
                #expect(try service.items.copyMatching(query, returning: .data, from: caller).records.count == 2)
                try service.checkpoint()
            }
            let passphrase = SharedSecret(copying: "a passphrase for a backup".utf8)
            let report = try first.backups.write(
                under: passphrase, passcode: nil, to: { (_) throws(KeychainError) in }, progress: { _, _ in })
            #expect(report.portable + report.deviceBound == 2)
            first.close()
            second.close()
            #expect(try FileManager.default.subpathsOfDirectory(atPath: home).sorted() == before)
        }
    }

    @Test(
        "On a read-only file system no passcode is checked, and items that need no passcode can be read",
        .enabled(if: canMount, "needs root with the right to mount"))
    func readOnlyPasscode() throws {
        let passcode = SharedSecret(copying: "the passcode".utf8)
        try withMountedHome("size=4m") { home in
            let made = try EmbeddedService(home: KeychainHome(root: home))
            for protection in [ProtectionClass.always, .whenUnlocked] {
                _ = try made.items.add(
                    ItemAddition(
                        .genericPassword, attributes: [.account: .string(protection.rawValue)],
                        secrets: ItemSecrets(data: SharedSecret(copying: "x".utf8)), protection: protection),
                    from: caller)
            }
            try made.lock.setPasscode(passcode) { _, _ in }
            made.close()
            try shell("mount", "-o", "remount,ro", home)
            let service = try EmbeddedService(home: KeychainHome(root: home))
            defer { service.close() }
            func find(_ protection: ProtectionClass) throws -> Int {
                let query = ItemQuery(.genericPassword, attributes: [.account: .string(protection.rawValue)])
                return try service.items.copyMatching(query, returning: .data, from: caller).records.count
            }
            #expect(try find(.always) == 1)
            for typed in [passcode, SharedSecret(copying: "another one".utf8)] {
                let error = try #require(throws: KeychainError.self) { try service.lock.unlock(typed) { _, _ in } }
                #expect(
                    error.status == .readOnly && error.problem.contains("could not be counted") && error.hint != nil,
                    "\(error)")
            }
            #expect(
                try #require(throws: KeychainError.self) { try find(.whenUnlocked) }.status == .interactionNotAllowed)
            #expect(try service.lock.status().wrongPasscodes == 0)
        }
    }

    @Test(
        "On a read-only file system latchkeyd's keychain and one without a log index are refused with a hint",
        .enabled(if: canMount, "needs root with the right to mount"),
        arguments: [
            ("data/daemon", "mount it read-write"), ("data/keychain.db-wal", "run latchkey status where the files"),
        ])
    func readOnlyRefused(_ name: String, _ hint: String) throws {
        try withMountedHome("size=4m") { home in
            _ = try Executable.run("latchkey", ["add-generic-password", "-a", "a", "-s", "s", "-w", "x"], home: home)
            _ = FileManager.default.createFile(
                atPath: "\(home)/\(name)", contents: Data([1]), attributes: [.posixPermissions: 0o600])
            try shell("mount", "-o", "remount,ro", home)
            let error = try #require(throws: KeychainError.self) { try EmbeddedService(home: KeychainHome(root: home)) }
            #expect(error.status == .notAvailable && error.hint?.hasPrefix(hint) == true, "\(error)")
        }
    }

    @Test(
        "A full disk is reported as such, and acknowledged writes are kept",
        .enabled(if: canMount, "needs root with the right to mount"))
    func fullDisk() throws {
        try withMountedHome("size=512k") { home in
            var stored = 0
            var last = ""
            for _ in 0..<400 {
                last = try Executable.run("ProofWorker", ["once"], home: home).output
                guard last.hasPrefix("0 ") else { break }
                stored += 1
            }
            #expect(last.hasPrefix("-34 "), "\(last)")
            #expect(stored > 3)
            // No space is left, not even for the index of the write-ahead log.
            _ = FileManager.default.createFile(atPath: "\(home)/filler", contents: nil)
            let filler = try FileHandle(forWritingTo: URL(filePath: "\(home)/filler"))
            while (try? filler.write(contentsOf: Data(count: 4096))) != nil {}
            #expect(try Executable.run("ProofWorker", ["once"], home: home).output.hasPrefix("-34 "))
            try filler.close()
            try FileManager.default.removeItem(atPath: "\(home)/filler")
            let service = try EmbeddedService(home: KeychainHome(root: home))
            let matches = try service.items.copyMatching(
                ItemQuery(.genericPassword, limit: .all), returning: .data, from: caller)
            #expect(matches.records.count == stored)
            #expect(matches.damaged == 0)
            service.close()
        }
    }

    // MARK: Helpers

    private func open(_ home: TemporaryDirectory) throws -> EmbeddedService {
        try EmbeddedService(home: KeychainHome(root: home.path))
    }

    /// A closed keychain with one item.
    private func made() throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        let service = try open(home)
        _ = try service.items.add(ItemAddition(.genericPassword), from: caller)
        service.close()
        return home
    }

    /// Overwrites the content and keeps the mode.
    private func replace(_ path: String, _ content: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: content)
        try handle.close()
    }

    private func sqlite(_ path: String, _ statement: String) throws {
        try shell("sqlite3", path, statement)
    }

    private func withMountedHome(_ options: String, _ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        let home = "\(directory.path)/small"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try shell("mount", "-t", "tmpfs", "-o", options, "latchkey-test", home)
        defer { try? shell("umount", home) }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home)
        try body(home)
    }

    private func shell(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        try process.start()
        try #require(process.awaitExit() == 0, "\(words)")
    }
}
