// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Latchkey
import Testing

/// `latchkey protect`, `unprotect`, `cat` and `protect status`.
@Suite("Commands for files")
struct ProtectCommandTests {
    private static let secret = "the content of the file"

    private func fixture() throws -> (TestKeychain, TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        try Data(Self.secret.utf8).write(to: URL(filePath: directory.path + "/notes"))
        return (try TestKeychain(.onDisk), directory, directory.path + "/notes")
    }

    @Test("A file is protected, printed, changed and made plain again")
    func oneFile() throws {
        let (keychain, directory, path) = try fixture()
        defer { withExtendedLifetime(directory) {} }
        #expect(keychain.latchkey("protect --class complete \(path)").output == "protected: \(path)\n")
        #expect(try Data(contentsOf: URL(filePath: path)).range(of: Data(Self.secret.utf8)) == nil)
        #expect(keychain.latchkey("cat \(path)").output == Self.secret)
        #expect(keychain.latchkey("protect status \(path)").output == "complete\t\(path)\tlatchkey.shared\n")
        #expect(keychain.latchkey("protect --class none \(path)").output == "changed: \(path)\n")
        #expect(keychain.latchkey("protect --class none \(path)").output == "")
        #expect(keychain.latchkey("unprotect --dry-run \(path)").output == "would be unprotected: \(path)\n")
        #expect(keychain.latchkey("unprotect \(path)").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(Self.secret.utf8))
        #expect(keychain.latchkey("protect status \(path)").output == "plain\t\(path)\n")
    }

    @Test("While the class is closed, cat exits with 36, and protect leaves the file plain")
    func locked() throws {
        let (keychain, directory, path) = try fixture()
        let other = directory.path + "/other"
        try Data("other".utf8).write(to: URL(filePath: other))
        #expect(keychain.latchkey("protect --class complete \(path)").exit == 0)
        try keychain.run(groups: nil) {
            try Keychain.default.setPasscode("correct horse")
            try Keychain.default.lock(immediately: true)
        }
        let printed = keychain.latchkey("cat \(path)")
        #expect(printed.exit & 0xFF == 36 && printed.output.isEmpty)
        #expect(keychain.latchkey("protect --class complete \(other)").exit & 0xFF == 36)
        #expect(keychain.latchkey("unprotect \(path)").exit & 0xFF == 36)
        #expect(try Data(contentsOf: URL(filePath: other)) == Data("other".utf8))
        let status = keychain.latchkey("protect status \(path)")
        #expect(status.exit == 0 && status.output.hasPrefix("complete\t"))
        // A file of this class can be created at any time.
        #expect(keychain.latchkey("protect --class unless-open \(other)").exit == 0)
        #expect(keychain.latchkey("cat \(other)").exit & 0xFF == 36)
        try keychain.run(groups: nil) { try Keychain.default.unlock(passcode: "correct horse") }
        #expect(keychain.latchkey("cat \(path) \(other)").output == Self.secret + "other")
    }

    @Test("A tree is converted in parallel; links are passed over, and one failure does not stop the others")
    func tree() throws {
        let (keychain, directory, path) = try fixture()
        for number in 0..<200 {
            let folder = "\(directory.path)/d\(number % 7)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("content \(number)".utf8).write(to: URL(filePath: "\(folder)/f\(number)"))
        }
        #expect(symlink(path, directory.path + "/d0/link") == 0)
        #expect(link(path, directory.path + "/second") == 0)
        let without = keychain.latchkey("protect --class complete \(directory.path)")
        #expect(without.exit != 0 && without.error.contains("--recursive"))
        let run = keychain.latchkey("protect -r --class complete --json \(directory.path)")
        let report = try JSONDecoder().decode([String: JSONValue].self, from: Data(run.output.utf8))
        #expect(report["changed"] == .number(200) && report["failed"] == .number(2) && report["skipped"] == .number(1))
        #expect(run.exit != 0 && run.error.contains("it has 2 names"))
        for number in [0, 77, 199] {
            #expect(keychain.latchkey("cat \(directory.path)/d\(number % 7)/f\(number)").output == "content \(number)")
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(Self.secret.utf8))
        let again = keychain.latchkey("protect -r --class complete --json \(directory.path)/d1")
        #expect(again.exit == 0 && again.output.contains("\"changed\" : 0"))
        #expect(keychain.latchkey("unprotect -r \(directory.path)/d0").exit == 0)
        #expect(try Data(contentsOf: URL(filePath: directory.path + "/d0/f0")) == Data("content 0".utf8))
    }

    @Test("The keychain's own files are never protected, named or below a directory")
    func ownFiles() throws {
        let keychain = try TestKeychain(.onDisk)
        let place = try #require(keychain.directory?.path)
        try Data("x".utf8).write(to: URL(filePath: place + "/other"))
        #expect(keychain.latchkey("set --help").exit == 0)
        let run = keychain.latchkey("protect -r --class none \(place)")
        #expect(run.output == "protected: \(place)/other\n")
        #expect(run.error.contains("belongs to the keychain itself"))
        let database = place + "/data/keychain.db"
        #expect(keychain.latchkey("protect --class none \(database)").output.isEmpty)
        #expect(try Data(contentsOf: URL(filePath: database)).starts(with: Array("SQLite format 3".utf8)))
    }

    @Test("A policy gives new files its class, and an invalid one stops their creation")
    func policy() throws {
        let (keychain, directory, _) = try fixture()
        let folder = directory.path + "/folder"
        try FileManager.default.createDirectory(atPath: folder + "/below", withIntermediateDirectories: true)
        #expect(keychain.latchkey("protect --policy --class unless-open \(folder)").exit == 0)
        try keychain.run(groups: nil) {
            try ProtectedFile.write(Data("new".utf8), to: folder + "/below/file")
            #expect(try ProtectedFile.protection(of: folder + "/below/file") == .completeUnlessOpen)
            try ProtectedFile.write(Data("new".utf8), to: directory.path + "/file")
            #expect(
                try ProtectedFile.protection(of: directory.path + "/file") == .completeUntilFirstUserAuthentication)
            try Data("class = everything\n".utf8).write(to: URL(filePath: folder + "/below/.latchkey-protect"))
            #expect(throws: KeychainError.self) {
                try ProtectedFile.write(Data("new".utf8), to: folder + "/below/second")
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/below/second"))
        }
    }

    @Test("Plain files are refused by cat and rekey, and files of another keychain are named")
    func refusals() throws {
        let (keychain, directory, path) = try fixture()
        #expect(keychain.latchkey("cat \(path)").error.contains("not a protected file"))
        #expect(keychain.latchkey("protect rekey \(path)").exit != 0)
        #expect(keychain.latchkey("protect rekey -r \(directory.path)").exit == 0)
        #expect(keychain.latchkey("protect --class complete \(path)").exit == 0)
        let foreign = try TestKeychain(.ephemeral).latchkey("cat \(path)")
        #expect(foreign.exit & 0xFF == 44 && foreign.error.contains("does not have the class key"))
        #expect(keychain.latchkey("cat \(directory.path)/none").exit != 0)
        #expect(keychain.latchkey("protect --class secret \(path)").exit == 2)
    }

    @Test("A damaged header is named by status and doctor, fails cat and unprotect, and is repaired on request")
    func damagedHeader() throws {
        let (keychain, directory, path) = try fixture()
        #expect(keychain.latchkey("protect --class complete \(path)").exit == 0)
        let whole = try Data(contentsOf: URL(filePath: path))
        #expect(keychain.latchkey("doctor \(directory.path)").output.contains("the headers of all 1 are whole"))
        #expect(keychain.latchkey("protect repair \(path)").output == "")
        // One changed byte: the content is certain, and the file is named.
        var damaged = whole
        damaged[30] ^= 1
        try damaged.write(to: URL(filePath: path))
        #expect(keychain.latchkey("cat \(path)").output == Self.secret)
        let differing = keychain.latchkey("protect status \(path)")
        #expect(differing.exit != 0 && differing.output.contains("its two headers differ"), "\(differing)")
        let doctor = keychain.latchkey("doctor \(directory.path)")
        #expect(doctor.exit == 1 && doctor.output.contains("1 of 1: \(path): its headers differ"), "\(doctor.output)")
        #expect(keychain.latchkey("protect repair \(path)").output == "repaired: \(path)\n")
        #expect(try Data(contentsOf: URL(filePath: path)) == whole)
        // A lost header: the other one may be older.
        damaged.replaceSubrange(0..<4096, with: Data(count: 4096))
        try damaged.write(to: URL(filePath: path))
        let printed = keychain.latchkey("cat \(path)")
        #expect(printed.exit != 0 && printed.output.isEmpty && printed.error.contains("its two headers disagree"))
        #expect(printed.error.contains("latchkey protect repair"))
        #expect(keychain.latchkey("unprotect \(path)").exit != 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == damaged)
        let disagreeing = keychain.latchkey("protect status --json \(path)")
        #expect(disagreeing.exit != 0 && disagreeing.output.contains("its two headers disagree"), "\(disagreeing)")
        #expect(keychain.latchkey("doctor \(path)").exit == 1)
        let repaired = keychain.latchkey("protect repair \(path)")
        #expect(repaired.output.hasPrefix("restored to its newest whole state"), "\(repaired)")
        #expect(try Data(contentsOf: URL(filePath: path + ".damaged")) == damaged)
        #expect(keychain.latchkey("cat \(path)").output == Self.secret)
        #expect(keychain.latchkey("doctor \(path)").exit == 0)
        #expect(keychain.latchkey("protect status \(path)").exit == 0)
    }

    @Test("status exits with 0 for a closed class, and not for damage, a missing key, or both")
    func statusExit() throws {
        let (keychain, directory, path) = try fixture()
        defer { withExtendedLifetime(directory) {} }
        #expect(keychain.latchkey("protect --class complete \(path)").exit == 0)
        let foreign = try TestKeychain(.ephemeral).latchkey("protect status \(path)")
        #expect(foreign.exit & 0xFF == 44 && foreign.output.hasPrefix("complete\t"), "\(foreign)")
        try keychain.run(groups: nil) {
            try Keychain.default.setPasscode("correct horse")
            try Keychain.default.lock(immediately: true)
        }
        #expect(keychain.latchkey("protect status \(path)").exit == 0)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[30] ^= 1
        try bytes.write(to: URL(filePath: path))
        let closed = keychain.latchkey("protect status \(path)")
        #expect(closed.exit != 0 && closed.output.contains("its two headers differ"), "\(closed)")
    }

    @Test("doctor names stored files with a damaged header")
    func damagedStoredFile() throws {
        let (keychain, directory, path) = try fixture()
        defer { withExtendedLifetime(directory) {} }
        #expect(keychain.latchkey("protect move --to-keychain scans/notes \(path)").exit == 0)
        #expect(keychain.latchkey("doctor").output.contains("stored files"))
        #expect(keychain.latchkey("doctor").exit == 0)
        let root = try #require(keychain.directory).path
        let files = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.contains("/files/") }
        let stored = "\(root)/\(try #require(files.first))"
        var bytes = try Data(contentsOf: URL(filePath: stored))
        bytes[4200] ^= 1
        try bytes.write(to: URL(filePath: stored))
        let doctor = keychain.latchkey("doctor")
        #expect(doctor.exit == 1 && doctor.output.contains("1 of 1 have a damaged header"), "\(doctor.output)")
    }

    @Test(
        "doctor names stored files that cannot be read", .enabled(if: geteuid() != 0, "root reads every file"))
    func unreadableStoredFile() throws {
        let (keychain, directory, path) = try fixture()
        defer { withExtendedLifetime(directory) {} }
        #expect(keychain.latchkey("protect move --to-keychain scans/notes \(path)").exit == 0)
        let root = try #require(keychain.directory).path
        let files = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.contains("/files/") }
        #expect(chmod("\(root)/\(try #require(files.first))", 0) == 0)
        let doctor = keychain.latchkey("doctor")
        #expect(doctor.exit == 1 && doctor.output.contains("1 of 1 cannot be read"), "\(doctor.output)")
    }

    @Test("A key record with other bytes opens nothing, and another program's file is denied")
    func groups() throws {
        let keychain = try TestKeychain(.onDisk)
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        try keychain.run(groups: ["G1"]) {
            try ProtectedFile.write(Data(Self.secret.utf8), to: path, protection: FileProtectionClass.none)
        }
        keychain.run(groups: ["G2"]) {
            let error = #expect(throws: KeychainError.self) { try ProtectedFile.contents(of: path) }
            #expect(error?.status == .missingEntitlement)
        }
        var bytes = try Data(contentsOf: URL(filePath: path))
        for start in [0, 4096] {
            let name = try #require(bytes.range(of: Data("G1".utf8), in: start..<start + 4096))
            bytes.replaceSubrange(name, with: Data("G2".utf8))
        }
        try bytes.write(to: URL(filePath: path))
        keychain.run(groups: ["G2"]) {
            let error = #expect(throws: KeychainError.self) { try ProtectedFile.contents(of: path) }
            #expect(error?.status == .decode)
        }
    }
}

/// A value of a JSON document.
private enum JSONValue: Decodable, Equatable {
    case number(Int)
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = (try? container.decode(Int.self)).map(JSONValue.number) ?? .other
    }
}
