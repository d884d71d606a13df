// SPDX-License-Identifier: Apache-2.0

import Keybag
import KeychainModel
import KeychainStore
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Backups with items that no program could have stored. Anyone who
/// knows the passphrase can write such a backup.
@Suite("Forged backups")
struct ForgedBackupTests {
    private static let passphrase = SharedSecret(copying: "the backup's passphrase".utf8)

    /// Returns a backup with these items, without any checks.
    private static func backup(of records: [ItemRecord]) throws -> [UInt8] {
        let store = try KeychainStore(inMemoryWith: .ephemeral())
        defer { store.close() }
        for record in records { _ = try store.add(record) }
        var file: [UInt8] = []
        _ = try store.backups.write(
            under: try Passcode(passphrase), passcode: nil, cost: PasscodeCost(exponent: 10), now: 1000,
            to: { (bytes) throws(StoreError) in file += Array(bytes) })
        return file
    }

    private static func restore(
        _ file: [UInt8], into keychain: TestKeychain, merges: Bool = true,
        as caller: CallerIdentity = CallerIdentity(executable: "/usr/bin/latchkey")
    ) throws -> RestoreReport {
        var rest = file[...]
        return try keychain.service.by(caller).restore(
            under: passphrase, passcode: nil, merges: merges, dryRun: false,
            from: { (buffer) throws(KeychainError) in
                let count = min(buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return count
            }, progress: { _, _ in })
    }

    private static func item(
        _ account: String, group: AccessGroup = AccessGroup("G1", grade: .claimed), created: Double = 100,
        modified: Double = 100
    ) -> ItemRecord {
        var record = ItemRecord(
            identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked, accessGroup: group,
            created: created,
            modified: modified, attributes: [.account: .string(account)], addedBy: "/usr/bin/example",
            secrets: ItemSecrets(data: SharedSecret(copying: account.utf8)))
        record.completeDefaults()
        return record
    }

    private static func key(startDate: Double) -> ItemRecord {
        var record = item("key")
        record.itemClass = .key
        record.attributes = [.startDate: .date(startDate)]
        record.completeDefaults()
        return record
    }

    private static func accounts(in keychain: TestKeychain) throws -> [String] {
        let caller = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        let found = try keychain.service.by(caller).copyMatching(
            ItemQuery(.genericPassword, limit: .all), returning: .attributes)
        return found.records.compactMap { $0[.account]?.text }
    }

    @Test(
        "Items with forbidden groups or invalid dates are rejected by name and counted; the others are restored"
    )
    func refused() throws {
        let cases: [(ItemRecord, reason: String)] = [
            (Self.item("any", group: AccessGroup("*", grade: .claimed)), "no program may have the access group '*'"),
            (Self.item("none", group: AccessGroup("", grade: .claimed)), "no program may have the access group ''"),
            (Self.item("token", group: .token), "no program may have the access group 'com.apple.token'"),
            (Self.item("any2", group: AccessGroup("*", grade: .attested)), "no program may have the access group '*'"),
            (
                Self.item("attested", group: AccessGroup("A", grade: .attested)),
                "the access group 'A' is attested"
            ),
            (Self.item("created", created: 1e300), "a date must be in the years 1 to 9999"),
            (Self.item("modified", modified: -1e300), "a date must be in the years 1 to 9999"),
            (Self.key(startDate: 1e300), "a date must be in the years 1 to 9999"),
        ]
        for merges in [true, false] {
            for (record, reason) in cases {
                let keychain = try TestKeychain(.ephemeral)
                let report = try Self.restore(
                    Self.backup(of: [Self.item("a"), record, Self.item("z")]), into: keychain, merges: merges)
                #expect(report.refused == 1 && report.added == 2 && report.items == 2, "\(reason)")
                #expect(report.refusals.count == 1 && report.refusals.first?.contains(reason) == true, "\(report)")
                #expect(try Self.accounts(in: keychain) == ["a", "z"])
            }
        }
    }

    @Test("Attested groups are restored if the daemon attests the caller")
    func attested() throws {
        let file = try Self.backup(of: [Self.item("attested", group: AccessGroup("A", grade: .attested))])
        let keychain = try TestKeychain(.ephemeral)
        let attested = CallerIdentity(executable: "/usr/bin/latchkey", attestedGroups: [])
        let report = try Self.restore(file, into: keychain, as: attested)
        #expect(report.refused == 0 && report.added == 1)
        let caller = CallerIdentity(executable: "/usr/bin/example", attestedGroups: ["A"])
        #expect(
            try keychain.service.by(caller).copyMatching(ItemQuery(.genericPassword), returning: []).records.count
                == 1)
    }

    @Test("A report contains each reason once, a limited number of reasons, and names of limited length")
    func bounded() throws {
        let long = String(repeating: "g", count: 1000)
        let records = (0..<40).map { Self.item("\($0)", group: AccessGroup("\($0 / 2)\(long)", grade: .attested)) }
        let report = try Self.restore(Self.backup(of: records), into: TestKeychain(.ephemeral))
        #expect(report.refused == 40 && report.added == 0 && report.refusals.count == RestoreReport.maxReasons)
        #expect(report.refusals.allSatisfy { $0.utf8.count < 200 })
    }

    @Test(
        "The first and last dates of the calendar are restored like any other",
        arguments: [-63_114_076_800.0, 252_423_993_600, 0])
    func calendar(_ date: Double) throws {
        let report = try Self.restore(
            Self.backup(of: [Self.item("a", created: date), Self.key(startDate: date)]), into: TestKeychain(.ephemeral))
        #expect(report.refused == 0 && report.added == 2)
    }
}
