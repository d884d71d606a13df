// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.1.
@Suite("Adding, finding, updating and deleting", .serialized)
struct BasicItemTests {
    @Test(
        "T001, T002: a search in an empty keychain finds nothing, and the result stays nil", arguments: Backend.allCases
    )
    func emptyKeychain(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for itemClass in [inet, genp, cert, keys, idnt] {
                let answer = copy(item(itemClass))
                #expect(answer.status == errSecItemNotFound)
                #expect(answer.value == nil)
            }
        }
    }

    @Test("T003, T004: an item can be added only once", arguments: Backend.allCases)
    func addOnce(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem) == errSecSuccess)
            #expect(add(genericItem) == errSecDuplicateItem)
        }
    }

    @Test("T005: another account for the same service is another item", arguments: Backend.allCases)
    func otherAccount(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(add(genericItem.with(["acct": "B"])) == errSecSuccess)
            #expect(copy(item(genp).with(.all).with(.returnData)).list?.count == 2)
        }
    }

    @Test("T006: data, label and comment are not part of the primary key", arguments: Backend.allCases)
    func onlyPrimaryKeyCounts(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(add(genericItem.with(["v_Data": data("other"), "labl": "L", "icmt": "C"])) == errSecDuplicateItem)
        }
    }

    @Test("T007, T008: an update changes the primary key", arguments: Backend.allCases)
    func updateMovesPrimaryKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(update(genericKey, ["acct": "A2", "svce": "S2"]) == errSecSuccess)
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(item(genp, ["acct": "A2", "svce": "S2"]).with(.returnData)).text == "s3cret")
            #expect(update(genericKey, ["acct": "A2", "svce": "S2"]) == errSecItemNotFound)
        }
    }

    @Test("T009: data in an update's query is ignored", arguments: Backend.allCases)
    func dataInQuery(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(update(genericKey.with(["v_Data": data("not the data")]), ["icmt": "C"]) == errSecSuccess)
            #expect(copy(genericKey.with(.returnData)).text == "s3cret")
        }
    }

    @Test(
        "T010, T011, T012: an internet password can be added only once and is found by its five attributes",
        arguments: Backend.allCases)
    func internetPassword(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(internetItem) == errSecSuccess)
            #expect(add(internetItem) == errSecDuplicateItem)
            let answer = copy(internetKey)
            #expect(answer.status == errSecSuccess)
            #expect(answer.value == nil)
        }
    }

    @Test("T013: a returned attribute dictionary can be used as a query for its item", arguments: Backend.allCases)
    func attributesAreAQuery(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem)
            var attributes = try #require(copy(internetKey.with(.returnAttributes)).attributes)
            attributes["sha1"] = nil
            let answer = copy(attributes.with(["class": inet]).with(.returnData))
            #expect(answer.status == errSecSuccess)
            #expect(answer.text == "s3cret")
        }
    }

    @Test(
        "T014 to T017: after an update the old attributes no longer match in a search, update or delete",
        arguments: Backend.allCases)
    func oldAttributes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem)
            #expect(update(internetKey, ["srvr": "host2"]) == errSecSuccess)
            #expect(update(internetKey, ["srvr": "host2"]) == errSecItemNotFound)
            #expect(delete(internetKey) == errSecItemNotFound)
            #expect(copy(internetKey.with(["srvr": "host2"])).status == errSecSuccess)
            #expect(add(internetItem) == errSecSuccess)
        }
    }

    @Test(
        "T018: an update to the primary key of another item is refused and changes neither item",
        arguments: Backend.allCases)
    func collidingUpdate(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem)
            add(internetItem.with(["srvr": "host2", "v_Data": data("two")]))
            #expect(update(internetKey, ["srvr": "host2"]) == errSecDuplicateItem)
            #expect(copy(internetKey.with(.returnData)).text == "s3cret")
            #expect(copy(internetKey.with(["srvr": "host2"]).with(.returnData)).text == "two")
        }
    }

    @Test("T019: an item can be deleted only once", arguments: Backend.allCases)
    func deleteOnce(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem)
            #expect(update(internetKey, ["srvr": "host2"]) == errSecSuccess)
            #expect(delete(internetKey.with(["srvr": "host2"])) == errSecSuccess)
            #expect(delete(internetKey.with(["srvr": "host2"])) == errSecItemNotFound)
        }
    }

    @Test("T020 to T023: an update accepts Data, and refuses null and strings", arguments: Backend.allCases)
    func updateData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem)
            #expect(update(internetKey, ["v_Data": data("new")]) == errSecSuccess)
            #expect(copy(internetKey.with(.returnData)).text == "new")
            #expect(update(internetKey, ["v_Data": NSNull()]) == errSecParam)
            #expect(update(internetKey, ["v_Data": "text"]) == errSecParam)
            #expect(copy(internetKey.with(.returnData)).text == "new")
        }
    }

    @Test("T024: deleting a missing item reports errSecItemNotFound", arguments: Backend.allCases)
    func deleteMissing(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(delete(item(genp, ["acct": "A"])) == errSecItemNotFound)
        }
    }

    @Test("T025: delete ignores return keys", arguments: Backend.allCases)
    func deleteIgnoresReturnKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(delete(genericKey.with(.returnData)) == errSecSuccess)
        }
    }

    @Test("T026: delete removes every matching item and no other", arguments: Backend.allCases)
    func deleteAllMatches(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for account in ["A", "B", "C"] { add(genericItem.with(["acct": account])) }
            add(genericItem.with(["svce": "other"]))
            #expect(delete(item(genp, ["svce": "S"])) == errSecSuccess)
            #expect(copy(item(genp, ["svce": "S"])).status == errSecItemNotFound)
            #expect(copy(item(genp, ["svce": "other"])).status == errSecSuccess)
        }
    }

    @Test("T027: several hundred items are counted and deleted by class", arguments: Backend.allCases)
    func manyItems(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for number in 0..<300 { #expect(add(genericItem.with(["acct": "account \(number)"])) == errSecSuccess) }
            #expect(copy(item(genp).with(.all).with(.returnAttributes)).list?.count == 300)
            #expect(delete(item(genp)) == errSecSuccess)
            #expect(copy(item(genp)).status == errSecItemNotFound)
        }
    }

    @Test("T028: deleting all items of a group keeps those of other groups", arguments: Backend.allCases)
    func deleteAllOfGroup(_ backend: Backend) throws {
        try withKeychain(backend, groups: ["G1", "G2", "G3"]) { _ in
            for group in ["G1", "G2", "G3"] { add(genericItem.with(["agrp": group])) }
            add(internetItem.with(["sync": true]))
            #expect(SecItemDeleteAllWithAccessGroups(["G1"] as CFArray, nil))
            #expect(copy(genericKey.with(["agrp": "G1"])).status == errSecItemNotFound)
            #expect(copy(internetKey.with(["sync": true])).status == errSecItemNotFound)
            #expect(copy(genericKey.with(.all).with(.returnData)).list?.count == 2)
        }
    }

    @Test("T029: deleting all items of a wildcard or of a system group is refused", arguments: Backend.allCases)
    func deleteAllRefused(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            for group in ["*", "apple", "com.apple.security.sos", "lockdown-identities"] {
                var error: Unmanaged<CFError>?
                #expect(!SecItemDeleteAllWithAccessGroups(["G1", group] as CFArray, &error))
                #expect(error?.takeRetainedValue().code == Int(errSecParam))
            }
            #expect(copy(genericKey).status == errSecSuccess)
        }
    }

    @Test(
        "T030, T031: the dictionary of an item without data has no data, and the data alone is nil",
        arguments: Backend.allCases)
    func noData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericKey)
            let entries = try #require(
                copy(genericKey.with(.all).with(.returnData).with(.returnAttributes)).dictionaries)
            let entry = try #require(entries.first)
            #expect(entries.count == 1)
            #expect(entry["acct"] as? String == "A")
            #expect(entry["svce"] as? String == "S")
            #expect(entry["v_Data"] == nil)
            let alone = copy(genericKey.with(.returnData))
            #expect(alone.status == errSecSuccess)
            #expect(alone.value == nil)
        }
    }

    @Test("T032: empty data is returned as empty data", arguments: Backend.allCases)
    func emptyData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericKey.with(["v_Data": Data()]))
            #expect(copy(genericKey.with(.returnData)).data == Data())
        }
    }

    @Test("T033: a port given as an empty string stays an empty string (§1.2)", arguments: Backend.allCases)
    func emptyPort(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(internetItem.with(["port": ""])) == errSecSuccess)
            #expect(copy(item(inet).with(.returnAttributes)).attributes?["port"] as? String == "")
        }
    }

    @Test(
        "T034: a certificate is found by an email address that it names, and by no other", arguments: Backend.allCases)
    func emailAddress(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(item(cert, ["slnr": data("1"), "v_Data": data("a certificate without any address")]))
            #expect(copy(item(cert, ["m_EmailAddressIfPresent": "alice@example.com"])).status == errSecItemNotFound)
            add(item(cert, ["slnr": data("2"), "v_Data": data("a certificate of Alice@Example.com")]))
            let answer = copy(item(cert, ["m_EmailAddressIfPresent": "alice@example.com"]).with(.returnAttributes))
            #expect(answer.attributes?["slnr"] as? Data == data("2"))
        }
    }

    @Test(
        "S0: delete and add work with the data in the query, as in many helper libraries", arguments: Backend.allCases)
    func deleteThenAdd(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for secret in ["one", "two"] {
                let query = genericKey.with(["v_Data": data(secret)])
                _ = delete(query)
                #expect(add(query) == errSecSuccess)
            }
            #expect(copy(genericKey.with(.returnData)).text == "two")
        }
    }

    @Test("An item without attributes can be added only once", arguments: Backend.allCases)
    func bareItem(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let answer = addReturning(item(genp).with(.returnAttributes))
            #expect(answer.status == errSecSuccess)
            #expect(answer.attributes?["acct"] as? String == "")
            #expect(answer.attributes?["svce"] as? String == "")
            #expect(add(item(genp)) == errSecDuplicateItem)
        }
    }
}
