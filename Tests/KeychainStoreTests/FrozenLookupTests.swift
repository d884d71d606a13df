// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// A keychain with items that clients of the Secret Service have stored, and a backup of it, written as
/// version 4 of the database and version 3 of the backup. It must stay readable; a vector is never
/// recorded again.
///
/// `LATCHKEY_RECORD_VECTOR=1` records it where it does not exist.
@Suite("Frozen vectors with lookup attributes")
struct FrozenLookupTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/keychain-v4")
    private static let passphrase = "the passphrase of the backup"

    /// The maps by the data of their items.
    private static let maps: [String: [String: String]] = [
        "secret-tool": ["service": "example.com", "account": "alice"],
        "second": ["service": "example.com", "account": "alice", "note": "ünïcödé 🔑"],
        "git": [
            "protocol": "https", "server": "example.com", "user": "alice", "port": "8443",
            "xdg:schema": "org.git.Password",
        ],
        "chromium": ["application": "chromium", "xdg:schema": "chrome_libsecret_os_crypt_password_v2"],
        "empty": [:],
    ]

    @Test("The version 4 keychain opens, and finds its items by every name; so does its restored backup")
    func version4() throws {
        let temporary = try TemporaryDirectory()
        for name in ["keychain.db", "device.key"] {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            _ = FileManager.default.createFile(
                atPath: "\(temporary.path)/\(name)", contents: content, attributes: [.posixPermissions: 0o600])
        }
        let key = try #require(try DeviceKey.load(from: try PrivateDirectory(existing: temporary.path)))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        try expectItems(in: store)
        store.close()
        let restored = try LookupSample.store()
        var rest = Array(try Data(contentsOf: Self.folder.appending(path: "backup")))[...]
        _ = try restored.backups.restore(
            under: try ConstraintFixture.passcode(Self.passphrase), passcode: nil, merges: false, dryRun: false,
            from: { (buffer) throws(StoreError) in
                let count = min(buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return count
            })
        try expectItems(in: restored)
        restored.close()
    }

    private func expectItems(in store: KeychainStore) throws {
        #expect(try store.inspector.inspect().damaged.isEmpty)
        for (text, pairs) in Self.maps {
            let map = try LookupSample.map(pairs)
            let search = try LookupSample.search(pairs, map.itemClass)
            let found = try store.search(search, limit: nil, withSecrets: true).records
            let same = found.filter { $0.storedLookup == map }
            #expect(same.map(\.text) == [text] && same.first?.contentType?.text == "text/plain; charset=utf8")
            for (name, value) in pairs { #expect(try store.texts([name: value], map.itemClass).contains(text)) }
        }
        #expect(try store.texts(["username": "bob", "service": "service of bob"]) == ["data of bob"])
    }

    @Test(
        "Recording a vector",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_VECTOR"] != nil, "only to record a new one"))
    func record() throws {
        guard !FileManager.default.fileExists(atPath: Self.folder.appending(path: "keychain.db").path) else { return }
        let temporary = try TemporaryDirectory()
        let key = try DeviceKey.loadOrCreate(in: try PrivateDirectory(existing: temporary.path))
        let store = try StoreFixture.open("\(temporary.path)/keychain.db", key)
        for (text, pairs) in Self.maps.sorted(by: { $0.key < $1.key }) {
            _ = try store.addNumbered(LookupSample.item(pairs, data: text))
        }
        _ = try store.add(Sample.item("bob"))
        var backup: [UInt8] = []
        _ = try store.backups.write(
            under: try ConstraintFixture.passcode(Self.passphrase), passcode: nil, cost: PasscodeCost(exponent: 10),
            now: 1000, to: { (bytes) throws(StoreError) in backup += Array(bytes) })
        store.close()
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        for name in ["keychain.db", "device.key"] {
            try Data(contentsOf: URL(filePath: "\(temporary.path)/\(name)")).write(
                to: Self.folder.appending(path: name))
        }
        try Data(backup).write(to: Self.folder.appending(path: "backup"))
        Issue.record("the vector was written; run the tests without LATCHKEY_RECORD_VECTOR")
    }
}
