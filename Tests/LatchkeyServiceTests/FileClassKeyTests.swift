// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The class keys of protected files. They are items that only the service uses.
@Suite("Class keys of files")
struct FileClassKeyTests {
    private static let passcode = SharedSecret(copying: "correct horse".utf8)
    private static let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)

    private func protect(_ path: String, _ protection: FileProtectionClass, in keychain: TestKeychain) throws {
        try keychain.run(groups: ["G1"]) {
            try ProtectedFile.write(Data("content".utf8), to: path, protection: protection)
        }
    }

    private func content(_ path: String, in keychain: TestKeychain) -> Result<Data, any Error> {
        keychain.run(groups: ["G1"]) { Result { try ProtectedFile.contents(of: path) } }
    }

    @Test("No program reaches a class key", arguments: Backend.everywhere)
    func unreachable(_ backend: Backend) throws {
        let (keychain, directory) = (try TestKeychain(backend), try TemporaryDirectory())
        try protect(directory.path + "/a", .complete, in: keychain)
        let callers = [
            Self.command, CallerIdentity(executable: "/x", declaredGroups: ["latchkey.files", "G1"]),
            CallerIdentity(executable: "/x"),
        ]
        for caller in callers {
            for group in [nil, "latchkey.files"] {
                var query = ItemQuery(.genericPassword, synchronizable: .any, limit: .all)
                query.accessGroup = group
                let found = try? keychain.service.by(caller).copyMatching(query, returning: [.attributes, .data])
                #expect(found?.records.isEmpty != false)
                #expect((try? keychain.service.by(caller).delete(query).required()) == nil)
            }
        }
        #expect(try keychain.service.administrator.status().counts.isEmpty)
        #expect(try content(directory.path + "/a", in: keychain).get() == Data("content".utf8))
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test("On another device a restored backup opens only files of classes that may move")
    func anotherDevice() throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        for protection in FileProtectionClass.allCases {
            try protect("\(directory.path)/\(protection)", protection, in: keychain)
        }
        let backup = try Self.backup(keychain)
        let other = try TestKeychain(.onDisk)
        for protection in FileProtectionClass.allCases {
            let result = content("\(directory.path)/\(protection)", in: other)
            let error = #expect(throws: KeychainError.self) { try result.get() }
            #expect(error?.status == .itemNotFound)
        }
        _ = try Self.restore(backup, into: other)
        for protection in FileProtectionClass.allCases {
            let result = content("\(directory.path)/\(protection)", in: other)
            if protection == .none {
                #expect(throws: KeychainError.self) { try result.get() }
            } else {
                #expect(try result.get() == Data("content".utf8))
            }
        }
    }

    @Test("A restored backup replaces no class key, also if it replaces every item")
    func kept() throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        let empty = try Self.backup(keychain)
        for protection in FileProtectionClass.allCases {
            try protect("\(directory.path)/\(protection)", protection, in: keychain)
        }
        let full = try Self.backup(keychain)
        for (backup, merges) in [(empty, false), (full, false), (full, true)] {
            let report = try Self.restore(backup, into: keychain, merges: merges)
            #expect(report.refused == 0 && report.deleted == 0)
            #expect(report.equal == report.items && report.kept == 0, "\(report)")
            for protection in FileProtectionClass.allCases {
                #expect(
                    try content("\(directory.path)/\(protection)", in: keychain).get() == Data("content".utf8))
            }
        }
    }

    @Test("A backup does not plant a class key that this keychain would use")
    func planted() throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        try protect(directory.path + "/a", .complete, in: keychain)
        keychain.service.close()
        // A copy of the keychain makes the keys of the next generation. The original does not have them.
        let copied = try TemporaryDirectory()
        for part in ["data", "state"] {
            try FileManager.default.copyItem(
                atPath: "\(try #require(keychain.directory).path)/\(part)", toPath: "\(copied.path)/\(part)")
        }
        let copy = try TestKeychain(in: copied, clock: keychain.clock)
        try copy.service.administrator.setPasscode(Self.passcode) { _, _ in }
        try protect(directory.path + "/b", .complete, in: copy)
        let backup = try Self.backup(copy, passcode: Self.passcode)
        let original = try TestKeychain(in: try #require(keychain.directory), clock: keychain.clock)
        let report = try Self.restore(backup, into: original, merges: true)
        #expect(report.added == 0 && report.replaced == 0 && report.kept > 0)
        #expect(throws: KeychainError.self) { try content(directory.path + "/b", in: original).get() }
        #expect(try content(directory.path + "/a", in: original).get() == Data("content".utf8))
    }

    @Test("After a passcode was set, new files have another class key; older ones open, and can be wrapped again")
    func generations() throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        try protect(directory.path + "/old", .complete, in: keychain)
        try keychain.service.administrator.setPasscode(Self.passcode) { _, _ in }
        try protect(directory.path + "/new", .complete, in: keychain)
        try keychain.run(groups: ["G1"]) {
            let old = try ProtectedFile(directory.path + "/old", for: .updating)
            #expect(try old.read(at: 0, count: 7) == Data("content".utf8))
            try old.setProtection(.complete)
            try old.close()
        }
        for name in ["old", "new"] {
            #expect(try content("\(directory.path)/\(name)", in: keychain).get() == Data("content".utf8))
        }
        // Locked at once, before any other use of files: class B still works.
        try keychain.service.administrator.lock(immediately: true)
        try protect(directory.path + "/b", .completeUnlessOpen, in: keychain)
        try keychain.service.administrator.unlock(Self.passcode) { _, _ in }
        #expect(try content(directory.path + "/b", in: keychain).get() == Data("content".utf8))
    }

    @Test(
        "A passcode that is removed, and a change of the passcode, leave every file readable", arguments: [false, true])
    func passcodes(_ rotates: Bool) throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        let other = SharedSecret(copying: "battery staple".utf8)
        for protection in FileProtectionClass.allCases {
            try protect("\(directory.path)/1\(protection)", protection, in: keychain)
        }
        try keychain.service.administrator.setPasscode(Self.passcode) { _, _ in }
        for protection in FileProtectionClass.allCases {
            try protect("\(directory.path)/2\(protection)", protection, in: keychain)
        }
        try keychain.service.administrator.changePasscode(from: Self.passcode, to: other, rotates: rotates) { _, _ in }
        _ = try keychain.service.administrator.removePasscode(other) { _, _ in }
        let reopened = try keychain.reopened()
        for name in FileProtectionClass.allCases.flatMap({ ["1\($0)", "2\($0)"] }) {
            #expect(try content("\(directory.path)/\(name)", in: reopened).get() == Data("content".utf8))
        }
    }

    @Test("A program that does not get the key reads and writes through the service", arguments: Backend.everywhere)
    func withheld(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let caller = CallerIdentity(executable: "/x", declaredGroups: ["G1"])
        let made = try keychain.service.by(caller).createFileKey(.complete, group: nil, withholdsKey: true)
        #expect(made.key == nil)
        let secret = SharedSecret(copying: "a part".utf8)
        let sealed = try keychain.service.by(caller).useFileKey(
            FilePartRequest(made.record, secret, authenticated: [1], seal: nil))
        let opened = try keychain.service.by(caller).useFileKey(
            FilePartRequest(made.record, sealed.output, authenticated: [1], seal: sealed.seal))
        #expect(opened.output == secret && sealed.output != secret)
        let damage = #expect(throws: KeychainError.self) {
            try keychain.service.by(caller).useFileKey(
                FilePartRequest(made.record, sealed.output, authenticated: [2], seal: sealed.seal))
        }
        #expect(damage?.status == .decode)
        #expect(throws: KeychainError.self) {
            try keychain.service.by(caller).useFileKey(
                FilePartRequest(
                    made.record, SharedSecret(.random(count: 65_537)), authenticated: [], seal: nil))
        }
        let stranger = CallerIdentity(executable: "/y", declaredGroups: ["G2"])
        let error = #expect(throws: KeychainError.self) {
            try keychain.service.by(stranger).openFileKey(made.record)
        }
        #expect(error?.status == .missingEntitlement)
    }

    private static let phrase = SharedSecret(copying: "a long passphrase".utf8)

    private static func backup(_ keychain: TestKeychain, passcode: SharedSecret? = nil) throws -> [UInt8] {
        let backup = BackupInMemory()
        _ = try keychain.service.administrator.backup(
            under: phrase, passcode: passcode, to: backup.write, progress: { _, _ in })
        return backup.bytes
    }

    private static func restore(
        _ backup: [UInt8], into keychain: TestKeychain, passcode: SharedSecret? = nil, merges: Bool = true
    ) throws -> RestoreReport {
        try keychain.service.administrator.restore(
            under: phrase, passcode: passcode, merges: merges, dryRun: false,
            from: BackupInMemory(backup).read(into:), progress: { _, _ in })
    }
}
