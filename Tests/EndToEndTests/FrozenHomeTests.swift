// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The programs of this version open the files that those of a release have written: a home with an audit log, a stored
/// file and a count of wrong passcodes, a protected file, a recovery key and a backup.
@Suite("Homes of earlier releases")
struct FrozenHomeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/home-0.1.0")

    private let directory: TemporaryDirectory
    private var home: String { "\(directory.path)/home" }

    init() throws {
        directory = try TemporaryDirectory()
        // A clone has the modes of its user's umask.
        for name in try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).sorted() {
            let (source, place) = ("\(Self.folder.path)/\(name)", "\(directory.path)/\(name)")
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: source, isDirectory: &isDirectory)
            if isDirectory.boolValue {
                try FileManager.default.createDirectory(
                    atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } else {
                _ = FileManager.default.createFile(
                    atPath: place, contents: try Data(contentsOf: URL(filePath: source)),
                    attributes: [.posixPermissions: 0o600])
            }
        }
        try secret("the frozen passcode of 0.1", in: "passcode")
        try secret("the passphrase of the backup", in: "passphrase")
    }

    @Test("The items, the stored file and the protected file open with the passcode; a wrong one was counted", .long)
    func opens() throws {
        let status = try latchkey(["status", "--json"])
        #expect(status.status == 0 && status.output.contains(#""passcode" : true"#))
        #expect(status.output.contains(#""recoveryKey" : true"#) && status.output.contains(#""wrongPasscodes""#))
        #expect(try latchkey(["get", "example.com/alice"]).status == 36)
        let passcode = ["--passcode-file", "\(directory.path)/passcode"]
        #expect(try latchkey(["get"] + passcode + ["example.com/alice"]).output == "s3cret")
        let web = ["find-internet-password", "-s", "server.example", "-w"]
        #expect(try latchkey(web + passcode).output == "w3b\n")
        #expect(try latchkey(["cat"] + passcode + ["\(directory.path)/notes.txt"]).output == "my notes\n")
        let file = ["--from-keychain", "scans/passport"]
        #expect(try latchkey(["cat"] + passcode + file).output == "a scanned passport\n")
        #expect(try latchkey(["collection", "list"]).output.contains("Work\tWork\t0\t"))
        #expect(try latchkey(["doctor"] + passcode).status == 0)
    }

    @Test("A program without an identity finds every old item, beside its own, and a loose deletion spares them")
    func program() throws {
        let daemon = try DaemonProcess(in: directory)
        defer { _ = daemon.stop() }
        let words = ["unlock", "--passcode-file", "\(directory.path)/passcode"]
        #expect(try daemon.client("latchkey", words).status == 0)
        func worker(_ words: String...) throws -> String {
            let answer = try daemon.client("ProofWorker", ["item"] + words)
            return answer.output.trimmingCharacters(in: .newlines)
        }
        let old = try worker("count", "-")
        #expect(old.hasPrefix("0 ") && old.split(separator: " ").contains("s3cret"), "\(old)")
        #expect(try worker("add", "mine", "own") == "0")
        #expect(try worker("count", "-", "-", "program.ProofWorker") == "0 own")
        #expect(try worker("count", "-", "-", "latchkey.shared") == old)
        #expect(try worker("delete", "-") == "0")
        #expect(try worker("count", "-") == old)
        #expect(try daemon.client("latchkey", ["get", "example.com/alice"]).output == "s3cret")
    }

    @Test("The audit log is intact, and is continued")
    func log() throws {
        let daemon = try DaemonProcess(in: directory)
        let verified = try daemon.client("latchkey", ["log", "verify"])
        #expect(verified.status == 0 && verified.output.hasPrefix("intact: every line is intact"), "\(verified)")
        #expect(try daemon.client("latchkey", ["log"]).output.contains(#""passcode":"wrong""#))
        #expect(daemon.stop() == 0)
    }

    @Test("The backup is restored elsewhere, with the stored file")
    func backup() throws {
        let fresh = "\(directory.path)/fresh"
        let words = ["restore", "--passphrase-file", "\(directory.path)/passphrase", "\(directory.path)/backup"]
        let restored = try Executable.run("latchkey", words, home: fresh)
        #expect(restored.status == 0, "\(restored)")
        #expect(try Executable.run("latchkey", ["get", "example.com/alice"], home: fresh).output == "s3cret")
        let file = ["cat", "--from-keychain", "scans/passport"]
        #expect(try Executable.run("latchkey", file, home: fresh).output == "a scanned passport\n")
    }

    @Test("The formats of the home are those of this version, or are converted")
    func formats() throws {
        let check = try latchkey(["doctor", "--upgrade-check"])
        #expect(check.status == 0)
        for part in ["database", "keybag", "attempts", "stored-files"] {
            #expect(check.output.contains("  \(part) "), "\(check.output)")
        }
    }

    private func latchkey(_ words: [String]) throws -> Executable.Outcome {
        try Executable.run("latchkey", words, home: home)
    }

    private func secret(_ text: String, in name: String) throws {
        _ = FileManager.default.createFile(
            atPath: "\(directory.path)/\(name)", contents: Data((text + "\n").utf8),
            attributes: [.posixPermissions: 0o600])
    }
}
