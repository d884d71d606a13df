// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.2 and the table of §3.6.
@Suite("Result shapes", .serialized)
struct ResultShapeTests {
    @Test(
        "T047: a search for data and references of all items returns an array of dictionaries with both",
        arguments: Backend.allCases)
    func dataAndReferenceOfAll(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            let entries = try #require(
                copy(item(genp).with(.all).with(.returnData).with(.returnReference)).dictionaries)
            #expect(entries.count == 1)
            #expect(entries.first?["v_Data"] as? Data == data("s3cret"))
            #expect((entries.first?["v_PersistentRef"] as? Data)?.count == 20)
        }
    }

    @Test(
        "T048, T049: a search for one kind of result of all items returns an array of Data", arguments: Backend.allCases
    )
    func oneKindOfAll(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(copy(item(genp).with(.all).with(.returnData)).value as? [Data] == [data("s3cret")])
            let references = try #require(copy(item(genp).with(.all).with(.returnReference)).value as? [Data])
            #expect(references.map(\.count) == [20])
        }
    }

    @Test(
        "T050: a search for attributes and references of all items returns no internal keys",
        arguments: Backend.allCases)
    func attributesAndReferenceOfAll(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            let entry = try #require(
                copy(item(genp).with(.all).with(.returnAttributes).with(.returnReference)).dictionaries?.first)
            #expect(entry["v_PersistentRef"] is Data)
            for name in ["persistref", "UUID", "clip", "class", "v_Data", "v_Ref", "sha1"] {
                #expect(entry[name] == nil)
            }
        }
    }

    @Test("T051, T052: a search for references of passwords succeeds and returns nil", arguments: Backend.allCases)
    func noReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            add(internetItem)
            for itemClass in [genp, inet] {
                let one = copy(item(itemClass, ["r_Ref": true]))
                #expect(one.status == errSecSuccess)
                #expect(one.value == nil)
                let all = copy(item(itemClass, ["r_Ref": true]).with(.all))
                #expect(all.status == errSecSuccess)
                #expect(all.list?.isEmpty == true)
            }
        }
    }

    @Test(
        "T053: every call refuses an object that is not a key, certificate or identity",
        arguments: Backend.allCases)
    func foreignReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            let query = genericKey.with(["v_Ref": NSObject()])
            #expect(add(query) == errSecParam)
            #expect(copy(query).status == errSecParam)
            #expect(update(query, ["icmt": "C"]) == errSecParam)
            #expect(delete(query) == errSecParam)
        }
    }

    @Test("T054: a search without a limit returns one result", arguments: Backend.allCases)
    func defaultLimit(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            addTwo()
            #expect(copy(item(genp).with(.returnData)).text == "s3cret")
        }
    }

    @Test("T055, T056, T057, T058: limits are obeyed, and invalid limits are refused", arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            addTwo()
            #expect(copy(item(genp, ["m_Limit": 2]).with(.returnData)).list?.count == 2)
            #expect(copy(item(genp, ["m_Limit": 1]).with(.returnData)).text == "s3cret")
            #expect(copy(item(genp, ["m_Limit": -1]).with(.returnData)).list?.count == 2)
            let none = copy(item(genp).with(.all))
            #expect(none.status == errSecSuccess)
            #expect(none.list?.isEmpty == true)
            #expect(copy(item(genp, ["m_Limit": 0])).status == errSecItemNotFound)
            for bad in ["banana" as Any, -2, 1.5, true] {
                #expect(copy(item(genp, ["m_Limit": bad])).status == errSecParam)
            }
        }
    }

    @Test("T060: returned attributes find the data of their item", arguments: Backend.allCases)
    func attributesThenData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            let attributes = try #require(copy(genericKey.with(.returnAttributes)).attributes)
            #expect(copy(attributes.with(["class": genp]).with(.returnData)).text == "s3cret")
        }
    }

    @Test("T061: add returns the same result as a later copy", arguments: Backend.allCases)
    func addReturnsWhatCopyReturns(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let added = try #require(addReturning(genericItem.with(.returnAttributes)).value as? NSDictionary)
            let copied = try #require(copy(genericKey.with(.returnAttributes)).value as? NSDictionary)
            #expect(added == copied)
            #expect(copied["musr"] as? Data == Data())
            #expect(copied["tomb"] as? Int == 0)
            #expect(copied["sync"] as? Int == 0)
            #expect(copied["pdmn"] as? String == "ak")
            #expect(copied["agrp"] as? String == "G1")
            #expect(copied["accc"] is SecAccessControl)
            #expect(copied["cdat"] is Date)
        }
    }

    @Test("§3.6: every combination of return keys has its result shape", arguments: Backend.allCases)
    func everyCombination(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            let names = ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"]
            for mask in 0..<16 {
                let asked = names.enumerated().filter { mask & (1 << $0.offset) != 0 }.map(\.element)
                let answer = copy(genericKey.with(Dictionary(uniqueKeysWithValues: asked.map { ($0, true) })))
                #expect(answer.status == errSecSuccess)
                if asked == ["r_Data"] || asked == ["r_PersistentRef"] {
                    #expect(answer.value is Data, "\(asked)")
                } else if asked.isEmpty || asked == ["r_Ref"] {
                    #expect(answer.value == nil, "\(asked)")
                } else {
                    let dictionary = try #require(answer.attributes, "\(asked)")
                    #expect(dictionary["acct"] as? String == "A")
                    #expect((dictionary["v_Data"] != nil) == asked.contains("r_Data"), "\(asked)")
                    #expect(
                        (dictionary["sha1"] != nil) == (asked.contains("r_Data") && asked.contains("r_Attributes")),
                        "\(asked)")
                    #expect((dictionary["v_PersistentRef"] != nil) == asked.contains("r_PersistentRef"), "\(asked)")
                    #expect((dictionary["class"] as? String == genp) == asked.contains("r_Ref"), "\(asked)")
                }
            }
        }
    }

    @Test(
        "§3.6: an addition without data returns empty Data, and the digest together with the data",
        arguments: Backend.allCases)
    func additions(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(addReturning(genericKey.with(.returnData)).data == Data())
            let added = addReturning(genericItem.with(["acct": "B"]).with(.returnData).with(.returnAttributes))
                .attributes
            #expect(added?["sha1"] is Data)
            #expect(addReturning(genericItem.with(["acct": "C"]).with(.returnAttributes)).attributes?["sha1"] == nil)
        }
    }

    @Test("sha1 is the SHA-1 of the data", arguments: Backend.allCases)
    func digest(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem.with(["v_Data": data("abc")]))
            let digest = copy(genericKey.with(.returnData).with(.returnAttributes)).attributes?["sha1"] as? Data
            // FIPS 180-4, example of SHA-1.
            #expect(digest?.map { String(format: "%02x", $0) }.joined() == "a9993e364706816aba3e25717850c26c9cd0d89d")
        }
    }

    @Test("Results are in the order of the addition of the items (§9.2, 11)", arguments: Backend.allCases)
    func order(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let accounts = ["zeta", "alpha", "mid", "beta"]
            for account in accounts { add(genericItem.with(["acct": account])) }
            for query in [item(genp), item(genp, ["svce": "S"]), item(genp, ["agrp": "G1"])] {
                let found = copy(query.with(.all).with(.returnAttributes)).dictionaries?.compactMap {
                    $0["acct"] as? String
                }
                #expect(found == accounts)
            }
        }
    }

    @Test(
        "An invalid certificate has no reference, and is not stored if a reference is requested",
        arguments: Backend.allCases)
    func noCertificate(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(item(cert, ["r_Ref": true, "v_Data": data("k")])) == errSecDecode)
            #expect(copy(item(cert)).status == errSecItemNotFound)
            #expect(add(item(cert, ["v_Data": data("k")])) == errSecSuccess)
            #expect(copy(item(cert, ["r_Ref": true])).status == errSecDecode)
            #expect(copy(item(cert, ["r_Ref": true]).with(.all)).list?.isEmpty == true)
        }
    }

    @Test("A dictionary of results holds objects of the classes that Core Foundation's types name")
    func classes() throws {
        try withKeychain(.onDisk) { _ in
            add(genericItem.with(["gena": data("G"), "crtr": 7]))
            let query = genericKey.with(.all).with(.returnData).with(.returnAttributes).with(.returnReference)
            let list = try #require(copy(query).value as? NSArray)
            #expect(type(of: list) == NSArray.self)
            let dictionary = try #require(list.firstObject as? NSDictionary)
            #expect(type(of: dictionary) == NSDictionary.self)
            let stored = dictionary.allKeys.compactMap { $0 as? NSString }
            #expect(stored.count == dictionary.count)
            #expect(stored.allSatisfy { type(of: $0) == NSString.self })
            // These properties return the objects as they are stored.
            let values = dictionary.allValues.map { type(of: $0 as AnyObject) }
            #expect(values.contains { $0 == NSString.self })
            #expect(values.allSatisfy { $0 is NSObject.Type })
            #expect(dictionary["gena"] as? Data == data("G"))
            #expect(dictionary["crtr"] as? Int == 7)
            #expect(dictionary["mdat"] is Date)
            #expect(dictionary["v_Data"] as? Data == data("s3cret"))
        }
    }

    @Test("A query is read with one call, not by one search for each of its keys")
    func readOnce() throws {
        try withKeychain(.onDisk) { _ in
            add(genericItem)
            let query = CountingDictionary()
            query.contents = genericKey.with(.returnData) as NSDictionary
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            #expect(result as? Data == data("s3cret"))
            #expect(query.reads == 1)
            #expect(query.searches == 0)
        }
    }

    private func addTwo() {
        add(genericItem)
        add(genericItem.with(["acct": "B", "v_Data": data("two")]))
    }
}

/// A dictionary that counts how it is read.
private final class CountingDictionary: NSDictionary {
    var contents = NSDictionary()
    private(set) var searches = 0
    private(set) var reads = 0

    override var count: Int { contents.count }

    override func object(forKey key: Any) -> Any? {
        searches += 1
        return contents.object(forKey: key)
    }

    override func keyEnumerator() -> NSEnumerator { contents.keyEnumerator() }

    override func getObjects(_ objects: inout [Any], andKeys keys: inout [Any], count: Int) {
        reads += 1
        contents.getObjects(&objects, andKeys: &keys, count: count)
    }
}
