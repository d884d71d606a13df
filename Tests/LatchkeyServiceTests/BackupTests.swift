// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// keychain-behaviour §5.3 and §7.10.
@Suite("Backup")
struct BackupTests {
    @Test(
        "T214, T218: saved items are restored after everything was deleted, and can be updated and deleted",
        arguments: Backend.allCases)
    func roundTrip(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        for number in 0..<50 { try keychain.add("account \(number)", .whenUnlocked, data: "data \(number)") }
        let (file, report) = try backup(keychain)
        #expect(report.portable == 50 && report.deviceBound == 0 && report.staying == 0)
        _ = try keychain.service.by(TestKeychain.caller).delete(keychain.query())
        let restored = try restore(file, into: keychain)
        #expect(restored.added == 50 && restored.deleted == 0)
        #expect(try keychain.find(limit: .all) == (0..<50).map { "data \($0)" })
        try keychain.update("account 7", ItemUpdate(data: SharedSecret(copying: "new".utf8)))
        #expect(try keychain.find("account 7") == ["new"])
        try keychain.delete("account 7")
        #expect(try keychain.service.administrator.check { _ in }.allSatisfy(\.isHealthy))
    }

    @Test("T073: persistent references survive backup, wipe and restore", arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let before = try keychain.add("a", .whenUnlocked).persistentReference
        let (file, _) = try backup(keychain)
        try keychain.delete("a")
        _ = try restore(file, into: keychain)
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(
            ItemQuery(nil, synchronizable: .any, persistentReference: before), returning: .attributes)
        #expect(found.records.map(\.persistentReference) == [before])
    }

    @Test("T215: a wrong passphrase, a flipped byte, a missing end or added bytes change nothing")
    func refused() throws {
        let keychain = try TestKeychain(.ephemeral)
        for number in 0..<3 { try keychain.add("account \(number)", .whenUnlocked) }
        let (file, _) = try backup(keychain)
        try keychain.delete("account 0")
        func outcome(_ bytes: [UInt8], _ passphrase: String = Self.passphrase) -> Int32 {
            status { () throws(KeychainError) in _ = try restore(bytes, into: keychain, passphrase: passphrase) }
        }
        #expect(outcome(file, "another passphrase") == -25293)
        for index in file.indices where index < 120 || index.isMultiple(of: 7) {
            var changed = file
            changed[index] ^= 0x40
            #expect(outcome(changed) != 0, "byte \(index)")
        }
        for count in [0, 8, 74, 75, 79, 100, file.count - 1] {
            #expect(outcome(Array(file.prefix(count))) != 0, "\(count) bytes")
        }
        #expect(outcome(file + [0]) != 0)
        var newer = file
        newer[9] = 4
        #expect(outcome(newer) == -25310)
        var greedy = file
        greedy[42] = 40
        #expect(outcome(greedy) == -26275)
        #expect(try keychain.find(limit: .all).count == 2)
        #expect(outcome(file) == 0)
        #expect(try keychain.find(limit: .all).count == 3)
    }

    @Test("T216, T217: ThisDeviceOnly items are restored only on their own device, akpu items nowhere")
    func classes() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.setPasscode()
        for protection in ProtectionClass.allCases { try keychain.add(protection.rawValue, protection) }
        // The lock state does not matter: the request contains the passcode.
        try keychain.service.administrator.lock(immediately: true)
        let (file, report) = try backup(keychain, passcode: Sample.secret)
        #expect(report.portable == 3 && report.deviceBound == 3 && report.staying == 1)
        #expect(status { () throws(KeychainError) in _ = try backup(keychain, passcode: nil) } == -25293)
        let other = try TestKeychain(.onDisk)
        let elsewhere = try restore(file, into: other)
        #expect(elsewhere.added == 3 && elsewhere.foreign == 3)
        let here = try restore(file, into: keychain, passcode: Sample.secret)
        #expect(here.added == 6 && here.foreign == 0 && here.deleted == 7)
        for protection in ProtectionClass.allCases {
            let found = status { () throws(KeychainError) in _ = try other.find(protection.rawValue) }
            #expect(found == (protection.isThisDeviceOnly ? -25300 : 0), "\(protection)")
        }
        try keychain.unlock()
        #expect(try keychain.find(limit: .all).count == 6)
    }

    @Test("T137: a synchronizable ThisDeviceOnly item is restored only on its own device", arguments: [false, true])
    func deviceOnlyAndSynchronizable(_ merges: Bool) throws {
        let keychain = try TestKeychain(.onDisk)
        for (account, protection) in [("a", ProtectionClass.afterFirstUnlockThisDeviceOnly), ("b", .afterFirstUnlock)] {
            _ = try keychain.service.by(TestKeychain.caller).add(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string(account)],
                    secrets: ItemSecrets(data: Sample.secret),
                    protection: protection, isSynchronizable: true))
        }
        let (file, report) = try backup(keychain)
        #expect(report.portable == 1 && report.deviceBound == 1)
        let other = try TestKeychain(.onDisk)
        let elsewhere = try restore(file, into: other, merges: merges)
        #expect(elsewhere.added == 1 && elsewhere.foreign == 1)
        let query = ItemQuery(.genericPassword, attributes: [.account: .string("a")], synchronizable: .any)
        func find(_ keychain: TestKeychain) -> Int32 {
            status { () throws(KeychainError) in
                _ = try keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .data).required()
            }
        }
        #expect(find(other) == -25300)
        _ = try keychain.service.by(TestKeychain.caller).delete(query)
        let here = try restore(file, into: keychain, merges: merges)
        #expect(here.foreign == 0 && here.items == 2 && find(keychain) == 0)
    }

    @Test(
        "Non-extractable keys are in a backup with the passcode or on request, otherwise omitted and listed",
        arguments: Backend.allCases)
    func notExtractable(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        func generate(_ attributes: [ItemAttribute: AttributeValue]) throws {
            let half = ItemAddition(.key, attributes: attributes)
            _ = try keychain.service.by(TestKeychain.caller).generateKey(
                KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half, publicHalf: ItemAddition(.key)))
        }
        try generate([.label: .string("deploy"), .isExtractable: .number(0)])
        try generate([.applicationTag: .data(Array("tag".utf8)), .isExtractable: .number(0)])
        try generate([.isExtractable: .string("odd")])
        try generate([.label: .string("free")])
        // Eight halves; the public ones are not secret.
        let (file, report) = try backup(keychain)
        #expect(report.portable == 5 && report.notExtractable == 3)
        #expect(report.notExtractableNames == ["deploy", "tag", "a key without a label"])
        #expect(try restore(file, into: TestKeychain(.ephemeral)).added == 5)
        let (whole, all) = try backup(keychain, including: .nonExtractableKeys)
        #expect(all.portable == 8 && all.notExtractable == 0 && all.notExtractableNames.isEmpty)
        #expect(try restore(whole, into: TestKeychain(.ephemeral)).added == 8)
        // A passcode for a keychain without one has no effect: it makes no key extractable.
        if let unasked = try? backup(keychain, passcode: Sample.secret).1 { #expect(unasked.notExtractable == 3) }
        try keychain.setPasscode()
        #expect(try backup(keychain, passcode: Sample.secret).1.portable == 8)
    }

    @Test("The names of omitted keys are limited in number and in length")
    func manyNotExtractable() throws {
        let keychain = try TestKeychain(.ephemeral)
        for number in 0..<20 {
            _ = try keychain.service.by(TestKeychain.caller).add(
                ItemAddition(
                    .key,
                    attributes: [
                        .label: .string("\(number)" + String(repeating: "k", count: 500)), .isExtractable: .number(0),
                        .applicationTag: .data([UInt8(number)]),
                    ]))
        }
        let (_, report) = try backup(keychain)
        #expect(report.notExtractable == 20 && report.notExtractableNames.count == BackupReport.maxNames)
        #expect(report.notExtractableNames.allSatisfy { $0.count == BackupReport.maxNameLength })
    }

    @Test("Dates outside of the years 1 to 9999 are not stored", arguments: Backend.allCases)
    func impossibleDates(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.add("a", .whenUnlocked)
        for date in [1e300, -1e300, 252_423_993_601, -63_114_076_801] {
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(TestKeychain.caller).add(
                        ItemAddition(.key, attributes: [.startDate: .date(date)]))
                } == -50)
            #expect(status { () throws(KeychainError) in try keychain.update("a", ItemUpdate(created: date)) } == -50)
        }
        #expect(
            status { () throws(KeychainError) in try keychain.update("a", ItemUpdate(created: 252_423_993_600)) } == 0)
    }

    @Test(
        "A merge keeps the newer of two items with the same key, and all others; a dry run reports this and changes nothing"
    )
    func merging() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.add("same", .whenUnlocked, data: "old")
        try keychain.add("newer here", .whenUnlocked, data: "old")
        try keychain.add("lost", .whenUnlocked, data: "saved")
        let (file, _) = try backup(keychain)
        keychain.clock.advance(by: 10)
        try keychain.update("newer here", ItemUpdate(data: SharedSecret(copying: "new".utf8)))
        try keychain.delete("lost")
        try keychain.add("only here", .whenUnlocked, data: "kept")
        let preview = try restore(file, into: keychain, merges: true, dryRun: true)
        #expect(preview.added == 1 && preview.equal == 1 && preview.kept == 1)
        #expect(preview.items == 3 && preview.replaced == 0 && preview.deleted == 0)
        #expect(status { () throws(KeychainError) in _ = try keychain.find("lost") } == -25300)
        #expect(try restore(file, into: keychain, merges: true) == preview)
        #expect(try keychain.find("same") == ["old"])
        #expect(try keychain.find("newer here") == ["new"])
        #expect(try keychain.find("lost") == ["saved"])
        #expect(try keychain.find("only here") == ["kept"])
        // Without a merge, existing items are deleted.
        #expect(try restore(file, into: keychain, dryRun: true).deleted == 4)
        #expect(try restore(file, into: keychain).deleted == 4)
        #expect(try Set(keychain.find(limit: .all)) == ["old", "saved"])
    }

    @Test(
        "Right after a backup, each of its items is equal to that of the keychain, and a merge changes nothing",
        arguments: Backend.allCases)
    func equal(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        for (number, protection) in ProtectionClass.allCases.filter({ !$0.requiresPasscode }).enumerated() {
            try keychain.add("account \(number)", protection, data: "data \(number)")
        }
        let (file, _) = try backup(keychain)
        for dryRun in [true, false] {
            let report = try restore(file, into: keychain, merges: true, dryRun: dryRun)
            #expect(report.items == 6 && report.equal == 6, "\(report)")
            #expect(report.added == 0 && report.replaced == 0 && report.kept == 0, "\(report)")
        }
        // One byte of a secret, with the same date of the last change, is a difference.
        try keychain.update("account 3", ItemUpdate(data: SharedSecret(copying: "data 4".utf8)))
        let changed = try restore(file, into: keychain, merges: true, dryRun: true)
        #expect(changed.equal == 5 && changed.kept + changed.replaced == 1, "\(changed)")
    }

    @Test("A newer item in the backup replaces the item with the same key, and keeps its reference of the backup")
    func newerInBackup() throws {
        let keychain = try TestKeychain(.ephemeral)
        let saved = try keychain.add("a", .whenUnlocked, data: "first").persistentReference
        keychain.clock.advance(by: 10)
        try keychain.update("a", ItemUpdate(data: SharedSecret(copying: "second".utf8)))
        let (file, _) = try backup(keychain)
        try keychain.delete("a")
        keychain.clock.advance(by: -5)
        try keychain.add("a", .whenUnlocked, data: "other")
        #expect(try restore(file, into: keychain, merges: true).replaced == 1)
        #expect(try keychain.find("a") == ["second"])
        let found = try keychain.service.by(TestKeychain.caller).copyMatching(
            ItemQuery(nil, synchronizable: .any, persistentReference: saved), returning: .data)
        #expect(found.records.count == 1)
    }

    @Test("If two items conflict with one of the backup, both are compared before either is deleted")
    func conflictingItems() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.add("u", .whenUnlocked, data: "first")
        keychain.clock.advance(by: 10)
        let (file, _) = try backup(keychain)
        // The item is renamed and becomes newer; another item takes its old name and is older than
        // the saved one.
        try keychain.update("u", ItemUpdate(attributes: [.account: .string("renamed")]))
        keychain.clock.advance(by: -20)
        try keychain.add("u", .whenUnlocked, data: "namesake")
        let report = try restore(file, into: keychain, merges: true)
        #expect(report.kept == 1 && report.added == 0 && report.replaced == 0)
        #expect(try Set(keychain.find(limit: .all)) == ["first", "namesake"])
    }

    @Test(
        "A backup contains neither secrets nor attributes in the clear, and two backups of the same items share no bytes"
    )
    func opaque() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.add("marker-account", .whenUnlocked, data: "marker-secret")
        try keychain.add("device-account", .whenUnlockedThisDeviceOnly, data: "device-secret")
        let (one, _) = try backup(keychain)
        let (other, _) = try backup(keychain)
        for marker in ["marker-account", "marker-secret", "device-account", "device-secret", "G1"] {
            #expect(!contains(one, Array(marker.utf8)))
        }
        #expect(one.count == other.count && one.dropFirst(75) != other.dropFirst(75))
        #expect(zip(one, other).dropFirst(75).filter { $0 == $1 }.count < (one.count - 75) / 16)
    }

    @Test("A backup and a restoration release their permit for key derivation before the first item is read or written")
    func derivationPlace() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.add("account", .whenUnlocked)
        let passphrase = SharedSecret(copying: Self.passphrase.utf8)
        let releases = Atomic(0)
        let place = DerivationPermit { releases.add(1, ordering: .sequentiallyConsistent) }
        func count() -> Int { releases.load(ordering: .sequentiallyConsistent) }

        let (file, seenByBackup) = (Bytes(), Counts())
        _ = try DerivationPermit.$current.withValue(place) {
            try keychain.service.administrator.backup(
                under: passphrase, passcode: nil,
                to: { (bytes) throws(KeychainError) in
                    seenByBackup.all.append(count())
                    file.all += Array(bytes)
                }, progress: { _, _ in })
        }
        #expect(!seenByBackup.all.isEmpty && seenByBackup.all.allSatisfy { $0 == 1 })

        let (rest, seenByRestore) = (Bytes(file.all), Counts())
        _ = try DerivationPermit.$current.withValue(place) {
            try keychain.service.administrator.restore(
                under: passphrase, passcode: nil, merges: true, dryRun: false,
                from: { (buffer) throws(KeychainError) in
                    seenByRestore.all.append(count())
                    let count = min(buffer.count, rest.all.count)
                    buffer.copyBytes(from: rest.all.prefix(count))
                    rest.all.removeFirst(count)
                    return count
                }, progress: { _, _ in })
        }
        // The header is read first, because the derivation needs it.
        #expect(
            seenByRestore.all.first == 1 && seenByRestore.all.count > 1
                && seenByRestore.all.dropFirst().allSatisfy { $0 == 2 })
    }

    private static let passphrase = "the passphrase of the backup"

    private func backup(
        _ keychain: TestKeychain, passcode: SharedSecret? = nil, including contents: BackupContents = []
    ) throws(KeychainError) -> ([UInt8], BackupReport) {
        let file = Bytes()
        let report = try keychain.service.administrator.backup(
            under: SharedSecret(copying: Self.passphrase.utf8), passcode: passcode,
            including: contents,
            to: { (bytes) throws(KeychainError) in file.all += Array(bytes) }, progress: { _, _ in })
        return (file.all, report)
    }

    private func restore(
        _ file: [UInt8], into keychain: TestKeychain, passphrase: String = Self.passphrase,
        passcode: SharedSecret? = nil,
        merges: Bool = false, dryRun: Bool = false
    ) throws(KeychainError) -> RestoreReport {
        let rest = Bytes(file)
        return try keychain.service.administrator.restore(
            under: SharedSecret(copying: passphrase.utf8), passcode: passcode, merges: merges, dryRun: dryRun,
            from: { (buffer) throws(KeychainError) in
                // In pieces of irregular length, as from a pipe.
                let count = min(buffer.count, rest.all.count, 1000)
                buffer.copyBytes(from: rest.all.prefix(count))
                rest.all.removeFirst(count)
                return count
            }, progress: { _, _ in })
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        (0...(bytes.count - part.count)).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }
}

/// Collects the numbers that a closure receives.
private final class Counts {
    var all: [Int] = []
}

private final class Bytes {
    var all: [UInt8]
    init(_ all: [UInt8] = []) { self.all = all }
}
