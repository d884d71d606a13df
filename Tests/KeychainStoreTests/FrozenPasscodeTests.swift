// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// A keychain with a passcode and a recovery key, and a backup of it, written as version 2 of the
/// keybag and version 1 of the backup.
@Suite("Frozen vectors with a passcode")
struct FrozenPasscodeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/keychain-v1-passcode")
    private static let passcode = "caf\u{E9} au lait, ﬁve cups"
    private static let passphrase = "the passphrase of the backup"

    @Test("The passcode unlocks every class of the vector")
    func passcode() throws {
        let (store, _, temporary) = try opened()
        #expect(
            store.hasPasscode && store.hasRecoveryKey
                && store.settings == KeybagSettings(graceSeconds: 7, lockInterval: 900))
        #expect(throws: StoreError.self) { _ = try store.search(Self.search, limit: nil, withSecrets: true) }
        // Decomposed, as another keyboard may enter it.
        try store.unlock(try Self.passcode("cafe\u{301} au lait, five cups"), floor: PasscodeCost(exponent: 10))
        try expectItems(in: store, ProtectionClass.allCases)
        store.close()
        withExtendedLifetime(temporary) {}
    }

    @Test("The recovery key on paper recovers the items that may leave the device")
    func recoveryKey() throws {
        let temporary = try copied()
        let text = try String(contentsOf: Self.folder.appending(path: "recovery-key.txt"), encoding: .utf8)
        let fresh = DeviceKey.ephemeral()
        let lost = try KeychainStore.recover(
            path: "\(temporary.path)/keychain.db", with: try RecoveryKey(text: SharedSecret(copying: text.utf8)),
            newPasscode: try Self.passcode("a new passcode"), cost: PasscodeCost(exponent: 10),
            attempts: PasscodeAttempts(inMemory: .system)
        ) { (_, _) throws(KeybagError) in fresh }
        #expect(lost == 4)
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", fresh)
        try store.unlock(try Self.passcode("a new passcode"), floor: PasscodeCost(exponent: 10))
        try expectItems(in: store, ProtectionClass.allCases.filter { !$0.isThisDeviceOnly })
        store.close()
    }

    @Test("The backup is restored on its device and on another one")
    func backup() throws {
        let (_, key, _) = try opened()
        for (device, classes) in [
            (key, ProtectionClass.allCases.filter { !$0.requiresPasscode }),
            (DeviceKey.ephemeral(), ProtectionClass.allCases.filter { !$0.isThisDeviceOnly }),
        ] {
            var file = Array(try Data(contentsOf: Self.folder.appending(path: "backup")))
            // A keychain in memory has another root, but the same device key.
            let directory = try TemporaryDirectory()
            let store = try StoreFixture.open("\(directory.path)/keychain.db", device)
            _ = try store.backups.restore(
                under: try Self.passcode(Self.passphrase), passcode: nil, merges: false, dryRun: false,
                from: { (buffer) throws(StoreError) in
                    let count = min(buffer.count, file.count)
                    buffer.copyBytes(from: file.prefix(count))
                    file.removeFirst(count)
                    return count
                })
            try expectItems(in: store, classes)
            store.close()
        }
    }

    @Test(
        "Recording a vector",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_VECTOR"] != nil, "only to record a new one"))
    func record() throws {
        #expect(
            !FileManager.default.fileExists(atPath: Self.folder.appending(path: "keychain.db").path),
            "a vector is frozen")
        let temporary = try TemporaryDirectory()
        let key = try DeviceKey.loadOrCreate(in: try PrivateDirectory(existing: temporary.path))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        let cost = PasscodeCost(exponent: 10)
        let passcode = try Self.passcode(Self.passcode)
        try store.passcode.set(passcode, cost: cost)
        for protection in ProtectionClass.allCases { _ = try store.add(Self.item(protection)) }
        try store.administration.changeSettings(to: KeybagSettings(graceSeconds: 7, lockInterval: 900), passcode)
        let recovery = try store.administration.createRecoveryKey(passcode)
        var backup: [UInt8] = []
        _ = try store.backups.write(
            under: try Self.passcode(Self.passphrase), passcode: passcode, cost: cost, now: 1000,
            to: { (bytes) throws(StoreError) in backup += Array(bytes) })
        store.close()
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for name in ["keychain.db", "device.key"] {
            try Data(contentsOf: URL(filePath: "\(temporary.path)/\(name)")).write(
                to: Self.folder.appending(path: name))
        }
        try Data(backup).write(to: Self.folder.appending(path: "backup"))
        try recovery.text.withUnsafeBytes { Data($0) }.write(to: Self.folder.appending(path: "recovery-key.txt"))
    }

    // MARK: The expected content

    private static let search = ItemSearch(.genericPassword, groups: .all(.claimed), synchronizable: .any)

    private static func passcode(_ text: String) throws -> Passcode { try Passcode(SharedSecret(copying: text.utf8)) }

    private static func item(_ protection: ProtectionClass) -> ItemRecord {
        var item = Sample.item(protection.rawValue)
        item.protection = protection
        return item
    }

    private func expectItems(in store: KeychainStore, _ classes: [ProtectionClass]) throws {
        let found = try store.search(Self.search, limit: nil, withSecrets: true)
        #expect(found.damaged.isEmpty)
        #expect(Set(found.records.map(\.protection)) == Set(classes) && found.records.count == classes.count)
        for record in found.records {
            let expected = Self.item(record.protection)
            #expect(record.attributes == expected.attributes && record.secrets == expected.secrets)
            #expect(record.created == 100 && record.accessGroup == expected.accessGroup)
        }
    }

    private func copied() throws -> TemporaryDirectory {
        let temporary = try TemporaryDirectory()
        for name in ["keychain.db", "device.key"] {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            _ = FileManager.default.createFile(
                atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
        }
        return temporary
    }

    private func opened() throws -> (KeychainStore, DeviceKey, TemporaryDirectory) {
        let temporary = try copied()
        let key = try #require(try DeviceKey.load(from: try PrivateDirectory(existing: temporary.path)))
        return (try StoreFixture.open("\(temporary.path)/keychain.db", key), key, temporary)
    }
}
