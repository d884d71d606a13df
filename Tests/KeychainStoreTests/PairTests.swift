// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainStore
import LinuxSystem
import SecretMemory
import Testing

/// Pairs of a certificate and a key, and damage in their rows.
@Suite("Pairs of a certificate and a key")
struct PairTests {
    static let search = PairSearch(
        certificates: ItemSearch(.certificate, groups: .only([Sample.group])),
        keys: ItemSearch(.key, groups: .only([Sample.group])))

    /// - Parameter size: of the data, in bytes; nil for the name of the class as data.
    static func item(
        _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue], size: Int? = nil
    ) -> ItemRecord {
        let data = size.map { [UInt8](repeating: 7, count: $0) } ?? Array(itemClass.rawValue.utf8)
        var record = ItemRecord(
            identifier: .random(), itemClass: itemClass, protection: .whenUnlocked, accessGroup: Sample.group,
            created: 100, modified: 100, attributes: attributes, addedBy: "/usr/bin/example",
            secrets: ItemSecrets(data: SharedSecret(copying: data)))
        record.completeDefaults()
        return record
    }

    /// A store with the pair of each number.
    private func fixture(_ numbers: [UInt8]) throws -> StoreFixture {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in numbers {
            _ = try store.add([
                Self.item(.certificate, [.serialNumber: .data([number]), .publicKeyHash: .data([number])]),
                Self.item(.key, [.applicationLabel: .data([number])]),
            ])
        }
        store.close()
        return fixture
    }

    /// The data of the pairs of a search.
    private func found(
        _ fixture: StoreFixture, certificateData: Bool, _ keyData: PairSearch.KeyData, limit: Int? = nil
    ) throws -> [[String?]] {
        let store = try fixture.open()
        defer { store.close() }
        var search = Self.search
        (search.needsCertificateData, search.keyData) = (certificateData, keyData)
        return try store.pairs(search, limit: limit).pairs.map { [$0.certificate.text, $0.key.text] }
    }

    @Test(
        "Each half has its data if it was requested",
        arguments: [
            (false, .none, [nil, nil]), (true, .none, ["cert", nil]), (false, .required, [nil, "keys"]),
            (true, .ifReadable, ["cert", "keys"]),
        ] as [(Bool, PairSearch.KeyData, [String?])])
    func data(_ certificateData: Bool, _ keyData: PairSearch.KeyData, _ expected: [String?]) throws {
        let fixture = try fixture([1, 2, 3])
        for (limit, count) in [(nil, 3), (2, 2), (0, 0)] as [(Int?, Int)] {
            let pairs = try found(fixture, certificateData: certificateData, keyData, limit: limit)
            #expect(pairs == Array(repeating: expected, count: count))
        }
    }

    @Test("A pair with damaged data is skipped if the data is required, and others are found")
    func damagedData() throws {
        let fixture = try fixture([1, 2])
        try fixture.tamper(
            "UPDATE item SET secret = zeroblob(64) WHERE id = (SELECT min(id) FROM item WHERE class = 4)")
        #expect(try found(fixture, certificateData: false, .none).count == 2)
        #expect(try found(fixture, certificateData: false, .ifReadable) == [[nil, nil], [nil, "keys"]])
        #expect(try found(fixture, certificateData: true, .required) == [["cert", "keys"]])
        try fixture.tamper(
            "UPDATE item SET secret = zeroblob(64) WHERE id = (SELECT max(id) FROM item WHERE class = 3)")
        #expect(try found(fixture, certificateData: false, .required) == [[nil, "keys"]])
        #expect(try found(fixture, certificateData: true, .none) == [["cert", nil]])
        #expect(try found(fixture, certificateData: true, .required).isEmpty)
    }

    @Test("A damaged row forms no pair", arguments: ItemClass.stored.filter { $0 == .key || $0 == .certificate })
    func damagedRow(_ itemClass: ItemClass) throws {
        let fixture = try fixture([1, 2])
        try fixture.tamper(
            "UPDATE item SET metadata = zeroblob(64) WHERE class = \(itemClass.number) AND id < 3")
        #expect(try found(fixture, certificateData: true, .required) == [["cert", "keys"]])
    }

    @Test("One change of the keychain can use pairs and change both halves")
    func transaction() throws {
        let fixture = try fixture([1, 2])
        let store = try fixture.open()
        defer { store.close() }
        let count = try store.transaction { (items) throws(StoreError) in
            let found = try items.pairedItems(Self.search)
            for item in found.certificates + found.keys {
                let named = ItemSearch(item.itemClass, groups: .only([item.accessGroup]), identifier: item.identifier)
                try items.remove(named, now: 200)
            }
            return found.pairCount
        }
        #expect(count == 2)
        #expect(try store.pairs(Self.search, limit: nil).pairs.isEmpty)
        #expect(try store.search(Self.search.keys, limit: nil, withSecrets: false).records.isEmpty)
    }

    @Test("The data of many keys with one label counts towards the limit of a result before it is all read")
    func manyKeys() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close() }
        _ = try store.add([Self.item(.certificate, [.serialNumber: .data([1]), .publicKeyHash: .data([1])])])
        for number in 0..<UInt8(20) {
            _ = try store.add([
                Self.item(.key, [.applicationLabel: .data([1]), .applicationTag: .data([number])], size: 10_000)
            ])
        }
        var search = Self.search
        search.keyData = .required
        let wanted = search
        let limited = ResultLimit.$current.withValue(100_000) {
            Result { () throws(StoreError) in try store.pairs(wanted, limit: 1) }
        }
        guard case .failure(.resultTooLarge(max: 100_000)) = limited else {
            Issue.record("all keys were read: \(limited)")
            return
        }
        #expect(try store.pairs(wanted, limit: 1).pairs.count == 1)
    }

    @Test("The pairs of many certificates and keys count towards the limit of a result; a change takes each item once")
    func product() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        defer { store.close() }
        let count = 40
        for number in 0..<UInt8(count) {
            _ = try store.add([
                Self.item(.certificate, [.serialNumber: .data([number]), .publicKeyHash: .data([1])]),
                Self.item(.key, [.applicationLabel: .data([1]), .applicationTag: .data([number])]),
            ])
        }
        #expect(try store.pairs(Self.search, limit: nil).pairs.count == count * count)
        let limited = ResultLimit.$current.withValue(count * count * 100) {
            Result { () throws(StoreError) in try store.pairs(Self.search, limit: nil) }
        }
        #expect(throws: StoreError.self) { _ = try limited.get() }
        let items = try store.transaction { (items) throws(StoreError) in try items.pairedItems(Self.search) }
        #expect(items.certificates.count == count && items.keys.count == count && items.pairCount == count * count)
    }
}
