// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.3.
@Suite("Persistent references", .serialized)
struct PersistentReferenceTests {
    @Test("T062: a search by attributes and a search by reference return equal attributes", arguments: Backend.allCases)
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

    @Test(
        "T063: an update by reference changes only that item, and the reference stays valid",
        arguments: Backend.allCases)
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

    @Test("T064, T065: a delete by reference deletes only that item", arguments: Backend.allCases)
    func deleteByReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let one = try #require(addTwo()["one"])
            #expect(delete(["v_PersistentRef": one]) == errSecSuccess)
            #expect(copy(["v_PersistentRef": one]).status == errSecItemNotFound)
            #expect(copy(item(inet, ["srvr": "one"])).status == errSecItemNotFound)
            #expect(copy(item(inet, ["srvr": "two"])).status == errSecSuccess)
        }
    }

    @Test("T066: a reference consists of the class's four letters and sixteen bytes", arguments: Backend.allCases)
    func shape(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for itemClass in [genp, inet, cert, keys] {
                let reference = try #require(addReturning(item(itemClass).with(.returnReference)).data)
                #expect(reference.count == 20)
                #expect(String(decoding: reference.prefix(4), as: UTF8.self) == itemClass)
            }
        }
    }

    @Test("T067, T068: a reference of another class and an invalid reference are refused", arguments: Backend.allCases)
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
        "T069: copy refuses attributes combined with a reference, except the two that have no effect",
        arguments: Backend.allCases)
    func attributesBesideReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            #expect(copy(["v_PersistentRef": reference, "acct": "A"]).status == errSecParam)
            #expect(copy(["v_PersistentRef": reference, "sync": "syna", "nleg": true]).status == errSecSuccess)
        }
    }

    @Test("§3.1: attributes combined with a reference narrow an update and a delete", arguments: Backend.allCases)
    func attributesNarrowChanges(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(.returnReference)).data)
            let other: Query = ["v_PersistentRef": reference, "acct": "B"]
            #expect(update(other, ["icmt": "C"]) == errSecItemNotFound)
            #expect(delete(other) == errSecItemNotFound)
            #expect(delete(["v_PersistentRef": reference, "acct": "A"]) == errSecSuccess)
        }
    }

    @Test("T070: a reference finds a synchronized item without kSecAttrSynchronizable", arguments: Backend.allCases)
    func synchronizedItem(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let reference = try #require(addReturning(genericItem.with(["sync": true]).with(.returnReference)).data)
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(["v_PersistentRef": reference].with(.returnData)).text == "s3cret")
        }
    }

    @Test("A caller cannot set the reference of a new item", arguments: Backend.allCases)
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
