// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import Testing

/// Protected files on another device, where a backup of their keychain is restored.
@Suite("Backups and protected files")
struct FileBackupCommandTests {
    private let first: TestKeychain
    private let second: TestKeychain
    private let directory: TemporaryDirectory
    /// Where the copies of the files are.
    private var copies: String { "\(directory.path)/copies" }

    init() throws {
        (first, second) = (try TestKeychain(.onDisk), try TestKeychain(.onDisk))
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.path + "/copies", withIntermediateDirectories: false)
        for (name, text) in [("phrase", "a phrase of mine\n"), ("passcode", "correct horse\n")] {
            try Data(text.utf8).write(to: URL(filePath: "\(directory.path)/\(name)"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(directory.path)/\(name)")
        }
    }

    @Test(
        "On another keychain, copied files open after a restore and obey its lock; those of the class none never open",
        arguments: [false, true])
    func anotherKeychain(_ hasPasscode: Bool) throws {
        if hasPasscode { try first.run(groups: nil) { try Keychain.default.setPasscode("correct horse") } }
        for name in ["complete", "unless-open", "first-unlock", "none"] {
            let path = "\(directory.path)/\(name)"
            try Data("content of \(name)".utf8).write(to: URL(filePath: path))
            #expect(first.latchkey("protect --class \(name) \(path)").exit == 0)
            try FileManager.default.copyItem(atPath: path, toPath: "\(copies)/\(name)")
            expectUnknown(name, hint: name == "none" ? "only in the keychain that made them" : "restore a backup")
        }
        try restore("--passcode-file \(directory.path)/passcode", if: hasPasscode)
        for name in ["complete", "unless-open", "first-unlock"] {
            let opened = second.latchkey("cat \(copies)/\(name)")
            #expect(opened.exit == 0 && opened.output == "content of \(name)", "\(opened)")
        }
        expectUnknown("none", hint: "files of the class none open only in the keychain that made them")
        // The keys that were restored are locked as those of the keychain itself.
        try second.run(groups: nil) {
            try Keychain.default.setPasscode("battery staple")
            try Keychain.default.lock(immediately: true)
        }
        for name in ["complete", "unless-open"] {
            let closed = second.latchkey("cat \(copies)/\(name)")
            #expect(closed.exit & 0xFF == 36 && closed.output.isEmpty, "\(closed)")
        }
        #expect(second.latchkey("cat \(copies)/first-unlock").output == "content of first-unlock")
        // On the first device, nothing has changed.
        for name in ["complete", "unless-open", "first-unlock", "none"] {
            #expect(first.latchkey("cat \(copies)/\(name)").output == "content of \(name)")
        }
    }

    // MARK: Helpers

    /// Saves the first keychain, and restores it in the second one.
    private func restore(_ passcode: String, if hasPasscode: Bool) throws {
        let (backup, phrase) = ("\(directory.path)/backup", "--passphrase-file \(directory.path)/phrase")
        let saved = first.latchkey("backup \(backup) \(phrase) \(hasPasscode ? passcode : "")")
        try #require(saved.exit == 0, "\(saved)")
        let restored = second.latchkey("restore \(backup) \(phrase)")
        try #require(restored.exit == 0, "\(restored)")
        #expect(restored.output.contains("they may be restored on their own device only"), "\(restored)")
    }

    /// Expects that the second keychain does not have the class key of a file, and says so.
    private func expectUnknown(_ name: String, hint: String) {
        let refused = second.latchkey("cat \(copies)/\(name)")
        #expect(refused.exit & 0xFF == 44 && refused.output.isEmpty, "\(refused)")
        #expect(refused.error.contains("does not have the class key of the file"), "\(refused)")
        #expect(refused.error.contains(hint), "\(refused)")
    }
}
