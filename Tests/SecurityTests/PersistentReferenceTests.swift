// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.3.
@Suite("Persistent references", .serialized)
struct PersistentReferenceTests {
    @Test("T062: attributes by attributes and by reference are equal", arguments: Backend.allCases)
    func sameAttributes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let references = addTwo()
            for (host, reference) in references {
                let byAttributes = try #require(
                    copy(item(inet, ["srvr": host]).with(.returnAttributes)).value as? NSDictionary)
                let byReference = try #require(
                    copy(["v_PersistentRef": reference].with(.returnAttributes)).value as? NSDictionary)
                #expect(byAttributes == byReference)
                #expect(byReference["srvr"] as? String == host)
            }
        }
    }

    @Test("T063: an update by reference changes that item alone, and the reference stays", arguments: Backend.allCases)
    func updateByReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let references = addTwo()
            let one = try #require(references["one"])
            #expect(update(["v_PersistentRef": one], ["srvr": "three"]) == errSecSuccess)
            #expect(copy(item(inet, ["srvr": "one"])).status == errSecItemNotFound)
            #expect(copy(item(inet, ["srvr": "two"])).status == errSecSuccess)
            #expect(copy(item(inet, ["srvr": "three"]).with(.returnReference)).data == one)
        }
    }

    @Test("T064, T065: a delete by reference deletes that item alone", arguments: Backend.allCases)
    func deleteByReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let one = try #require(addTwo()["one"])
            #expect(delete(["v_PersistentRef": one]) == errSecSuccess)
            #expect(copy(["v_PersistentRef": one]).status == errSecItemNotFound)
            #expect(copy(item(inet, ["srvr": "one"])).status == errSecItemNotFound)
            #expect(copy(item(inet, ["srvr": "two"])).status == errSecSuccess)
        }
    }

    @Test("T066: a reference is the class's four letters and sixteen bytes", arguments: Backend.allCases)
    func shape(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for itemClass in [genp, inet, cert, keys] {
                let reference = try #require(addReturning(item(itemClass).with(.returnReference)).data)
                #expect(reference.count == 20)
                #expect(String(decoding: reference.prefix(4), as: UTF8.self) == itemClass)
            }
        }
    }

    @Test("T067, T068: a reference of another class, and no reference", arguments: Backend.allCases)
    func wrongReferences(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            #expect(copy(item(inet, ["v_PersistentRef": reference])).status == errSecNoSuchClass)
            #expect(copy(item(genp, ["v_PersistentRef": reference])).status == errSecSuccess)
            for bad in [Data([1, 2, 3]), Data(), Data(count: 20), reference + [0], reference.dropLast()] {
                #expect(copy(["v_PersistentRef": bad]).status == errSecParam)
            }
            #expect(copy(["v_PersistentRef": "text"]).status == errSecParam)
        }
    }

    @Test(
        "T069: attributes beside a reference are refused by copy; the two that do not count are fine",
        arguments: Backend.allCases)
    func attributesBesideReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            #expect(copy(["v_PersistentRef": reference, "acct": "A"]).status == errSecParam)
            #expect(copy(["v_PersistentRef": reference, "sync": "syna", "nleg": true]).status == errSecSuccess)
        }
    }

    @Test("§3.1: attributes beside a reference narrow an update and a delete", arguments: Backend.allCases)
    func attributesNarrowChanges(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            let other: Query = ["v_PersistentRef": reference, "acct": "B"]
            #expect(update(other, ["icmt": "C"]) == errSecItemNotFound)
            #expect(delete(other) == errSecItemNotFound)
            #expect(delete(["v_PersistentRef": reference, "acct": "A"]) == errSecSuccess)
        }
    }

    @Test("T070: a reference finds a synchronised item without the synchronisation key", arguments: Backend.allCases)
    func synchronisedItem(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(["sync": true]).with(.returnReference)).data)
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(["v_PersistentRef": reference].with(.returnData)).text == "s3cret")
        }
    }

    @Test("A new item takes no reference from its maker", arguments: Backend.allCases)
    func addWithReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            #expect(add(genericItem.with(["acct": "B", "v_PersistentRef": reference])) == errSecParam)
        }
    }

    private func addTwo() -> [String: Data] {
        var references: [String: Data] = [:]
        for host in ["one", "two"] {
            references[host] = addReturning(internetItem.with(["srvr": host]).with(.returnReference)).data
        }
        return references
    }
}
