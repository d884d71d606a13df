// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import KeychainStore
import KeychainTesting
import SecretMemory
import Testing

/// The inputs of Fuzz/Corpus/backups: the seeds of the fuzzer, and its findings.
@Suite("Fuzzer's corpus of backups")
struct BackupCorpusTests {
    @Test("Every backup of the corpus is restored completely or refused, and every restored item opens")
    func replay() throws {
        var (restored, refused) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("backups") {
            let outcome = try BackupInput.restore(bytes)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.isRestored { restored += 1 } else { refused += 1 }
        }
        #expect(restored >= 3 && refused >= 6, "\(restored) restored, \(refused) refused")
    }

    @Test(
        "A backup is refused if an item has an attribute that its class does not have: its row would not open",
        arguments: [
            (ItemClass.genericPassword, [.service: .string("s")], [], true),
            (.genericPassword, [.server: .string("example.com")], [], false),
            (.internetPassword, [.server: .string("example.com")], [.extraNotes], true),
            (.internetPassword, [.service: .string("s")], [], false), (.genericPassword, [:], [.extraNotes], false),
            (.key, [.account: .string("a")], [], false), (.certificate, [.applicationLabel: .data([1])], [], false),
        ] as [(ItemClass, [ItemAttribute: AttributeValue], [ItemAttribute], Bool)])
    func foreignAttribute(
        _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue], _ secretAttributes: [ItemAttribute],
        _ isRestored: Bool
    ) throws {
        let secret = SharedSecret(copying: "secret".utf8)
        let secrets = ItemSecrets(
            data: secret, attributes: Dictionary(uniqueKeysWithValues: secretAttributes.map { ($0, secret) }))
        var record = ItemRecord(
            identifier: .random(), itemClass: itemClass, protection: .whenUnlocked,
            accessGroup: AccessGroup("G1", grade: .claimed),
            created: 100, modified: 100, attributes: attributes, addedBy: "/usr/bin/example", secrets: secrets)
        record.completeDefaults()
        let item = BackupItem.encode(record).withUnsafeBytes { Array($0) }
        // The content of an authentic file: one item that may leave its device.
        let outcome = try BackupInput.restore(
            [1, 1] + withUnsafeBytes(of: UInt32(item.count).bigEndian) { Array($0) } + item)
        #expect(outcome.isRestored == isRestored && outcome.fault == nil)
    }

    @Test("A forged item with constraints is refused by name, and the items beside it are restored")
    func constraints() throws {
        var content: [UInt8] = [1]
        for flags in [nil, AccessControlFlags.userPresence, nil] {
            var record = ItemRecord(
                identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked,
                accessGroup: AccessGroup("G1", grade: .claimed), created: 100, modified: 100,
                attributes: [.account: .data(Array(content.count.description.utf8))], accessControlFlags: flags,
                addedBy: "/usr/bin/example", secrets: ItemSecrets(data: SharedSecret(copying: "secret".utf8)))
            record.completeDefaults()
            let item = BackupItem.encode(record).withUnsafeBytes { Array($0) }
            content += [1] + withUnsafeBytes(of: UInt32(item.count).bigEndian) { Array($0) } + item
        }
        let outcome = try BackupInput.restore(content)
        #expect(outcome.isRestored && outcome.fault == nil)
        #expect(outcome.refusals == ["an item with constraints is not restored"])
    }
}
