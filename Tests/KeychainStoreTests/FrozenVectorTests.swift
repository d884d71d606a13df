// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// A database of version 1, with its device key, must stay readable. A vector is never recorded
/// again: a new format gets a new vector.
@Suite("Frozen vectors")
struct FrozenVectorTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/keychain-v1")

    /// The expected content of the vector.
    private static let items: [ItemRecord] = [
        item(
            .genericPassword, .whenUnlocked, "latchkey.shared", "s3cret",
            [
                .account: .string("alice"), .service: .string("example.com"), .label: .string("ünïcödé 🔑"),
                .generic: .data([0, 255]),
            ]),
        item(
            .genericPassword, .afterFirstUnlockThisDeviceOnly, "G1", nil,
            [.account: .data([1, 2, 3]), .service: .string(""), .creator: .number(-7)]),
        item(
            .internetPassword, .afterFirstUnlock, "G1", String(repeating: "long ", count: 1000),
            [
                .account: .string("bob"), .server: .string("example.org"), .protocol: .string("htps"),
                .port: .number(443),
                .path: .string("/x"), .securityDomain: .string("realm"), .authenticationType: .string("dflt"),
            ], extra: [.extraNotes: "notes"], synchronizable: true),
        item(
            .certificate, .always, "G2", "der",
            [.issuer: .data([48]), .serialNumber: .data([1]), .publicKeyHash: .data([9, 9]), .subject: .data([5])]),
        item(
            .key, .whenUnlockedThisDeviceOnly, "G2", "key",
            [
                .applicationLabel: .data([9, 9]), .applicationTag: .string("tag"), .startDate: .date(86_400.5),
                .keyClass: .number(1),
            ]),
    ]

    @Test("The version 1 keychain opens, and holds exactly the items that were written")
    func version1() throws {
        let temporary = try TemporaryDirectory()
        for name in ["keychain.db", "device.key"] {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            _ = FileManager.default.createFile(
                atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
        }
        let directory = try PrivateDirectory(existing: temporary.path)
        let key = try #require(try DeviceKey.load(from: directory))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        for itemClass in ItemClass.stored {
            let search = ItemSearch(itemClass, groups: .all(.claimed), synchronizable: .any)
            let found = try store.search(search, limit: nil, withSecrets: true)
            #expect(found.damaged.isEmpty)
            let expected = Self.items.filter { $0.itemClass == itemClass }
            #expect(found.records.count == expected.count)
            for (record, written) in zip(found.records, expected) {
                #expect(record.attributes == written.attributes)
                #expect(record.secrets == written.secrets)
                #expect(record.accessGroup == written.accessGroup && record.protection == written.protection)
                #expect(record.isSynchronizable == written.isSynchronizable && record.addedBy == written.addedBy)
                #expect(record.created == 1000 && record.modified == 2000)
            }
        }
        // Searches by token also find them.
        let search = ItemSearch(
            .genericPassword, groups: .only([.shared]),
            attributes: [.account: .string("alice"), .label: .string("ünïcödé 🔑")])
        #expect(try store.search(search, limit: 1, withSecrets: true).records.first?.text == "s3cret")
        store.close()
    }

    @Test(
        "Recording a vector",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_VECTOR"] != nil, "only to record a new one"))
    func record() throws {
        #expect(
            !FileManager.default.fileExists(atPath: Self.folder.appending(path: "keychain.db").path),
            "a vector is frozen")
        let temporary = try TemporaryDirectory()
        let directory = try PrivateDirectory(existing: temporary.path)
        let key = try DeviceKey.loadOrCreate(in: directory)
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        for item in Self.items { _ = try store.add(item) }
        store.close()
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for name in ["keychain.db", "device.key"] {
            try Data(contentsOf: URL(filePath: "\(temporary.path)/\(name)")).write(
                to: Self.folder.appending(path: name))
        }
        Issue.record("the vector was written; run the tests without LATCHKEY_RECORD_VECTOR")
    }

    private static func item(
        _ itemClass: ItemClass, _ protection: ProtectionClass, _ group: String, _ data: String?,
        _ attributes: [ItemAttribute: AttributeValue],
        extra: [ItemAttribute: String] = [:], synchronizable: Bool = false
    ) -> ItemRecord {
        var record = ItemRecord(
            identifier: .random(), itemClass: itemClass, protection: protection,
            accessGroup: AccessGroup(group, grade: .claimed),
            isSynchronizable: synchronizable, created: 1000, modified: 2000, attributes: attributes,
            addedBy: "/usr/bin/vector",
            secrets: ItemSecrets(
                data: data.map { SharedSecret(copying: $0.utf8) },
                attributes: extra.mapValues { SharedSecret(copying: $0.utf8) }))
        record.completeDefaults()
        return record
    }
}
