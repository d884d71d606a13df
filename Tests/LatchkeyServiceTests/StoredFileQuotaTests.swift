// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyService
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// Stored files count against the quota of their user.
@Suite("Quota of stored files")
struct StoredFileQuotaTests {
    private static let caller = CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["G1"])
    private static let phrase = SharedSecret(copying: "a long passphrase".utf8)

    private static func item(_ account: String) -> ItemAddition {
        ItemAddition(.genericPassword, attributes: [.service: .string("s"), .account: .string(account)])
    }

    private static func store(_ count: Int, _ account: String, in service: EmbeddedService) throws(KeychainError) {
        let rest = Mutex(count)
        try service.files.store(
            item(account), replaces: true,
            from: { () throws(KeychainError) in
                let part = rest.withLock { rest in
                    let part = min(rest, StoredFilePart.maxLength)
                    rest -= part
                    return part
                }
                return part == 0 ? nil : SharedSecret(.random(count: part))
            }, caller: caller)
    }

    private static func files(_ directory: TemporaryDirectory) -> Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/data/files")) ?? []).count
    }

    @Test("The quota of a user limits stored files, also those of a backup")
    func quota() throws {
        let directory = try TemporaryDirectory()
        let limited = try EmbeddedService(
            home: KeychainHome(root: directory.path), account: StorageAccount(maxBytes: 2 << 20))
        defer { limited.close() }
        try Self.store(1 << 20, "first", in: limited)
        let error = #expect(throws: KeychainError.self) { try Self.store(1 << 20, "second", in: limited) }
        #expect(error?.status == .diskFull && error?.hint != nil)
        #expect(Self.files(directory) == 1)

        let source = try TemporaryDirectory()
        let large = try EmbeddedService(home: KeychainHome(root: source.path))
        defer { large.close() }
        for account in ["a", "b", "c"] { try Self.store(600_000, account, in: large) }
        let backup = BackupInMemory()
        _ = try large.backups.write(
            under: Self.phrase, passcode: nil, including: .files, to: backup.write, progress: { _, _ in })
        let refused = #expect(throws: KeychainError.self) {
            try limited.backups.restore(
                under: Self.phrase, passcode: nil, merges: true, dryRun: false,
                from: backup.read(into:), progress: { _, _ in })
        }
        #expect(refused?.status == .diskFull)
        #expect(Self.files(directory) == 1)
        #expect(try limited.status().counts.reduce(0) { $0 + $1.count } == 1)
        // Deleting makes room.
        _ = try limited.items.delete(
            ItemQuery(.genericPassword, attributes: [.account: .string("first")]), from: Self.caller)
        try Self.store(1 << 20, "second", in: limited)
        #expect(Self.files(directory) == 1)
    }

    @Test("A file that is longer than the quota is refused while it arrives, not after it was written")
    func arriving() throws {
        let directory = try TemporaryDirectory()
        let account = StorageAccount(maxBytes: 4 << 20)
        let limited = try EmbeddedService(home: KeychainHome(root: directory.path), account: account)
        defer { limited.close() }
        // Seven parts and a half are left, and each costs a little more than its length.
        let other = account.charge()
        #expect(other.add(account.available - 7 * StoredFilePart.maxLength - StoredFilePart.maxLength / 2))
        defer { withExtendedLifetime(other) {} }
        let parts = Mutex(0)
        let error = #expect(throws: KeychainError.self) {
            try limited.files.store(
                Self.item("long"), replaces: false,
                from: { () throws(KeychainError) in
                    let number = parts.withLock { parts in
                        parts += 1
                        return parts
                    }
                    return number > 64 ? nil : SharedSecret(.random(count: StoredFilePart.maxLength))
                }, caller: Self.caller)
        }
        #expect(error?.status == .diskFull)
        #expect(parts.withLock { $0 } == 8)
        #expect(Self.files(directory) == 0)
    }
}
