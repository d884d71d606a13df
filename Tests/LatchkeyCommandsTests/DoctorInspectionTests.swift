// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyService
import Testing

/// `latchkey doctor` leaves the files that it reads as they are, in any state.
@Suite("The doctor changes nothing")
struct DoctorInspectionTests {
    private static let commands = ["", " --report", " --report --json", " --upgrade-check"]

    @Test("A keychain that is closed keeps every byte and every time")
    func closed() throws {
        let home = try ExaminedHome()
        try home.create()
        for command in Self.commands {
            let outcome = try home.unchanged(by: "latchkey doctor\(command)")
            #expect(outcome.exit == 0, "\(command): \(outcome)")
        }
    }

    @Test("A log that a killed program has left is read, and neither emptied nor removed")
    func leftoverLog() throws {
        let home = try ExaminedHome()
        try home.createWithLog()
        for command in Self.commands {
            let outcome = try home.unchanged(by: "latchkey doctor\(command)")
            #expect(outcome.exit == 0, "\(command): \(outcome)")
        }
        let report = try home.shell.run("latchkey doctor --report").output
        // The item is in the log only.
        for row in ["items:      1 genp complete\n", "format:     database 4\n"] {
            #expect(report.contains(row), "\(report)")
        }
    }

    @Test("A log without its index is not read without writing: the reason is named")
    func logWithoutIndex() throws {
        let home = try ExaminedHome()
        try home.createWithLog()
        try FileManager.default.removeItem(atPath: "\(home.database)-shm")
        let outcome = try home.unchanged(by: "latchkey doctor --upgrade-check")
        #expect(outcome.exit == 1 && outcome.output.contains("its index is missing"), "\(outcome)")
        #expect(outcome.output.contains("hint: run latchkey status") && !outcome.output.contains("newer version"))
    }

    @Test("A keychain of an earlier version is not converted by a report")
    func earlierVersion() throws {
        let home = try ExaminedHome()
        try home.copyVector()
        for command in Self.commands {
            _ = try home.unchanged(by: "latchkey doctor\(command)")
        }
    }

    @Test("In the empty directory of a keychain nothing is created")
    func emptyDirectory() throws {
        let home = try ExaminedHome()
        try home.create()
        try FileManager.default.createDirectory(
            atPath: "\(home.path)/data/keychains/other.keychain-db", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        for command in Self.commands {
            let outcome = try home.unchanged(by: "latchkey doctor\(command)")
            #expect(outcome.exit == (command.isEmpty ? 1 : 0), "\(command): \(outcome)")
        }
    }

    @Test("A link to nothing in place of the database is a finding")
    func danglingLink() throws {
        let home = try ExaminedHome()
        try home.create()
        try FileManager.default.removeItem(atPath: home.database)
        try FileManager.default.createSymbolicLink(atPath: home.database, withDestinationPath: "/nonexistent/x")
        let report = try home.unchanged(by: "latchkey doctor --report").output
        #expect(report.contains("finding:    WRONG  keychain\n") && !report.contains("none yet"), "\(report)")
        let outcome = try home.unchanged(by: "latchkey doctor")
        #expect(outcome.exit == 1 && outcome.output.contains("a link"), "\(outcome)")
    }

    @Test(
        "An unreadable file is named with its reason, and is not called newer", .long,
        arguments: [
            ("chmod 644 \"$DB\"", "others can access it", "hint: chmod 600"),
            ("printf %04096d 0 > \"$DB\"", "not a keychain", "hint: restore it from a backup"),
            (": > \"$DB\"", "it is empty", "hint: restore it from a backup"),
            ("rm \"$DB\"; mkdir \"$DB\"", "Is a directory", "hint: move it away"),
            ("rm \"$DB\"; ln -s /nonexistent/x \"$DB\"", "a link", "hint: move it away"),
            ("truncate -s 5000 \"$DB\"", "not a keychain", "hint: restore it from a backup"),
            ("truncate -s 90 \"$DB\"", "not a keychain", "hint: restore it from a backup"),
        ])
    func unreadable(_ damage: String, _ reason: String, _ hint: String) throws {
        let home = try ExaminedHome()
        try home.create()
        #expect(try home.shell.run("DB='\(home.database)'; \(damage)").exit == 0)
        let outcome = try home.unchanged(by: "latchkey doctor --upgrade-check")
        #expect(outcome.exit == 1, "\(outcome)")
        #expect(outcome.output.contains("cannot be read: ") && outcome.output.contains(reason), "\(outcome)")
        #expect(outcome.output.contains(hint) && !outcome.output.contains("newer version"), "\(outcome)")
        let json = try home.shell.run("latchkey doctor --upgrade-check --json").output
        #expect(json.contains(#""readable" : false"#) && json.contains(#""hint" : "#), "\(json)")
    }

    @Test("Under a lock of another process, a report says so within seconds", .long)
    func locked() throws {
        let home = try ExaminedHome()
        try home.createWithLog()
        let start = ContinuousClock.now
        let outcome = try home.shell.run(
            """
            set -e
            DB='\(home.database)'; export READY="$DB.ready"
            mkfifo "$PASS"
            sqlite3 "$DB" < "$PASS" > /dev/null &
            exec 3> "$PASS"
            printf 'PRAGMA locking_mode=EXCLUSIVE;\\nBEGIN EXCLUSIVE;\\n.shell touch "$READY"\\n' >&3
            await test -e "$READY"
            latchkey doctor --upgrade-check || echo "upgrade check: $?"
            latchkey doctor --report
            latchkey doctor || echo "doctor: $?"
            exec 3>&-
            wait
            """)
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(outcome.exit == 0 && outcome.output.contains("upgrade check: 1\n"), "\(outcome)")
        #expect(outcome.output.contains("cannot be read: the database is in use"), "\(outcome)")
        #expect(outcome.output.contains("in use:     another process has locked the database\n"), "\(outcome)")
        #expect(outcome.output.contains("doctor: 1\n") && !outcome.output.contains("newer version"), "\(outcome)")
    }

    @Test(
        "On a read-only file system the formats are read",
        .enabled(if: ExaminedHome.canMount, "needs the right to mount")
    )
    func readOnlyFileSystem() throws {
        let home = try ExaminedHome()
        try home.createWithLog()
        let outcome = try home.shell.run(
            """
            home='\(home.path)'
            mount --bind "$home" "$home" && mount -o remount,bind,ro "$home"
            latchkey doctor --upgrade-check; echo "exit $?"
            latchkey doctor --report
            umount "$home"
            """)
        #expect(
            outcome.output.contains("nothing is converted; it is opened by 0.1.0 and newer\nexit 0\n"), "\(outcome)")
        #expect(outcome.output.contains("format:     database 4\n"), "\(outcome)")
    }
}

/// A home with files that are compared before and after a command.
private struct ExaminedHome {
    let shell: Shell
    var path: String { "\(shell.directory.path)/home" }
    var database: String { "\(path)/data/keychain.db" }

    init() throws { shell = try Shell() }

    /// In a container even root may not be allowed to mount.
    static let canMount: Bool = {
        guard geteuid() == 0, let shell = try? Shell() else { return false }
        let line =
            "mount --bind '\(shell.directory.path)' '\(shell.directory.path)' && umount '\(shell.directory.path)'"
        return (try? shell.run(line))?.exit == 0
    }()

    func create() throws {
        let outcome = try shell.run("echo s3cret | latchkey set example.com/alice")
        try #require(FileManager.default.fileExists(atPath: database), "\(outcome)")
    }

    /// Creates a keychain with the log, and its index, of a program that was killed.
    func createWithLog() throws {
        let original = try TemporaryDirectory()
        let service = try EmbeddedService(home: KeychainHome(root: original.path))
        try service.checkpoint()
        _ = try service.items.add(
            ItemAddition(.genericPassword),
            from: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true))
        try FileManager.default.copyItem(atPath: original.path, toPath: path)
        service.close()
        for suffix in ["-wal", "-shm"] {
            try #require(FileManager.default.fileExists(atPath: database + suffix))
        }
    }

    func copyVector() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../KeychainStoreTests/Vectors/keychain-v1")
        for (file, directory) in [("keychain.db", "data"), ("device.key", "state")] {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(directory)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let content = try Data(contentsOf: folder.appending(path: file))
            _ = FileManager.default.createFile(
                atPath: "\(path)/\(directory)/\(file)", contents: content, attributes: [.posixPermissions: 0o600])
        }
    }

    /// Runs a command, and expects that every file and directory has the same content and time after it.
    func unchanged(by command: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        let before = try state()
        let outcome = try shell.run(command)
        let after = try state()
        for name in Set(before.keys).union(after.keys).sorted() {
            #expect(before[name] == after[name], "\(command) changes \(name)", sourceLocation: sourceLocation)
        }
        return outcome
    }

    private struct FileState: Equatable {
        var mode: UInt32
        var seconds: Int
        var nanoseconds: Int
        var content: Data?
    }

    private func state() throws -> [String: FileState] {
        var states: [String: FileState] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + ["."] {
            var info = stat()
            try #require(lstat("\(path)/\(name)", &info) == 0)
            let isFile = info.st_mode & S_IFMT == S_IFREG
            states[name] = FileState(
                mode: info.st_mode, seconds: info.st_mtim.tv_sec, nanoseconds: info.st_mtim.tv_nsec,
                content: isFile ? try Data(contentsOf: URL(filePath: "\(path)/\(name)")) : nil)
        }
        return states
    }
}
