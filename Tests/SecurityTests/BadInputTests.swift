// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyService
import Security
import Synchronization
import Testing

/// keychain-behaviour §7.5 and other invalid input in dictionaries.
@Suite("Bad input", .serialized)
struct BadInputTests {
    @Test("T102: update refuses return keys", arguments: Backend.allCases)
    func updateRefusesReturnKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            for name in ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"] {
                #expect(update(genericKey.with([name: true]), ["icmt": "C"]) == errSecParam)
            }
            #expect(update(genericKey.with(["r_Data": false]), ["icmt": "C"]) == errSecSuccess)
        }
    }

    @Test("T103: an access control of the wrong type is refused", arguments: Backend.allCases)
    func accessControlType(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem.with(["accc": "ak"])) == errSecParam)
            #expect(delete(genericKey.with(["accc": "ak"])) == errSecParam)
        }
    }

    @Test("T104: a server given as Data is returned as Data", arguments: Backend.allCases)
    func serverAsData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem.with(["srvr": data("host1")]))
            #expect(copy(item(inet).with(.returnAttributes)).attributes?["srvr"] as? Data == data("host1"))
            // The same bytes are the same server in any type.
            #expect(copy(internetKey).status == errSecSuccess)
            #expect(add(internetItem) == errSecDuplicateItem)
        }
    }

    @Test("T105: the internal key clip is refused", arguments: Backend.allCases)
    func internalKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(add(genericItem.with(["acct": "B", "clip": 1])) == errSecParam)
            #expect(copy(genericKey.with(["clip": 1])).status == errSecParam)
            #expect(update(genericKey.with(["clip": 1]), ["icmt": "C"]) == errSecParam)
            #expect(update(genericKey, ["clip": 1]) == errSecParam)
            #expect(delete(genericKey.with(["clip": 1])) == errSecParam)
        }
    }

    @Test("T106, T107: a missing class and an unknown class are refused", arguments: Backend.allCases)
    func classes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(["acct": "A"]) == errSecParam)
            #expect(add(["acct": "A", "class": 5]) == errSecParam)
            #expect(add(item("bogus", ["acct": "A"])) == errSecNoSuchClass)
            #expect(copy(["acct": "A"]).status == errSecParam)
            #expect(delete(["acct": "A"]) == errSecParam)
        }
    }

    @Test("T108, T109, T110: attributes that the class does not have are refused", arguments: Backend.allCases)
    func unknownAttributes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(copy(genericKey.with(["zzzz": "x"])).status == errSecNoSuchAttr)
            #expect(copy(genericKey.with(["srvr": "x"])).status == errSecNoSuchAttr)
            #expect(update(genericKey, ["class": genp]) == errSecNoSuchAttr)
            for name in ["u_CredRef", "m_Limit", "r_Data", "v_Ref", "srvr"] {
                #expect(update(genericKey, [name: "x"]) == errSecNoSuchAttr, "\(name)")
            }
            for name in ["volm", "addr", "afps", "crlt", "crle"] {
                #expect(copy(genericKey.with([name: "x"])).status == errSecNoSuchAttr, "\(name)")
            }
        }
    }

    @Test(
        "T111: add refuses match keys (§9.2, 1); delete and update ignore them and warn of those that narrow"
    )
    func matchKeys() throws {
        for backend in Backend.allCases {
            for (match, isWarned) in Self.matchKeys {
                let warnings = Mutex(0)
                let log = ProgramLog { _ in warnings.withLock { $0 += 1 } }
                try ProgramLog.$current.withValue(log) {
                    try withKeychain(backend) { _ in
                        #expect(add(genericItem.with(match)) == errSecParam)
                        #expect(copy(genericKey).status == errSecItemNotFound)
                        for account in ["A", "B"] { add(genericItem.with(["acct": account])) }
                        #expect(update(item(genp, match), ["icmt": "C"]) == errSecSuccess, "\(match)")
                        #expect(
                            copy(item(genp, ["icmt": "C"]).with(.all).with(.returnAttributes)).list?.count == 2,
                            "\(match)")
                        #expect(delete(item(genp, match)) == errSecSuccess, "\(match)")
                        #expect(copy(item(genp)).status == errSecItemNotFound, "\(match)")
                        #expect(delete(item(genp, match)) == errSecItemNotFound, "\(match)")
                    }
                }
                #expect(warnings.withLock { $0 } == (isWarned ? 1 : 0), "\(match)")
            }
        }
    }

    private static var matchKeys: [(Query, isWarned: Bool)] {
        [
            (.all, false), (["m_Limit": "m_LimitOne"], false), (["m_Limit": 1], false), (["m_Limit": -7], false),
            (["m_CaseInsensitive": true], false),
            (["m_SubjectContains": "x"], true), (["m_Unknown": 1], true),
            (["m_TrustedOnly": true, "m_Limit": 1], true),
            (["m_HostOrSubdomainOfHost": "example.com"], true), (["m_Issuers": [Data()]], true),
        ]
    }

    @Test(
        "Delete and update obey kSecMatchItemList and affect only the items that it names", arguments: Backend.allCases)
    func itemList(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let references = try ["A", "B"].map {
                try #require(addReturning(genericItem.with(["acct": $0]).with(.returnReference)).data)
            }
            #expect(update(item(genp, ["m_ItemList": [references[0]]]), ["icmt": "C"]) == errSecSuccess)
            #expect(copy(item(genp, ["icmt": "C"]).with(.all).with(.returnAttributes)).list?.count == 1)
            #expect(delete(item(genp, ["m_ItemList": [Data]()])) == errSecItemNotFound)
            #expect(delete(item(genp, ["m_ItemList": "A"])) == errSecUnimplemented)
            #expect(delete(item(genp, ["m_ItemList": ["A"]])) == errSecUnimplemented)
            #expect(delete(item(genp, ["m_ItemList": [data("A")]])) == errSecParam)
            #expect(delete(item(genp, ["m_ItemList": [references[1]], "m_Limit": "m_LimitAll"])) == errSecSuccess)
            #expect(copy(item(genp).with(.all).with(.returnReference)).list as? [Data] == [references[0]])
        }
    }

    @Test("T112, T113, T114: use keys are obeyed, ignored or refused", arguments: Backend.allCases)
    func useKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem.with(["u_AuthUI": "u_AuthUIS"])) == errSecParam)
            #expect(add(genericItem.with(["u_AuthUI": "u_AuthUIF"])) == errSecSuccess)
            #expect(delete(genericKey.with(["u_AuthUI": "u_AuthUIS"])) == errSecParam)
            #expect(copy(genericKey.with(["u_AuthUI": "u_AuthUIS"])).status == errSecSuccess)
            #expect(copy(genericKey.with(["u_AuthUI": "other"])).status == errSecParam)
            #expect(copy(genericKey.with(["u_ItemList": []])).status == errSecParam)
            #expect(add(genericItem.with(["acct": "B", "u_ItemList": []])) == errSecParam)
            #expect(delete(genericKey.with(["u_ItemList": []])) == errSecParam)
            #expect(copy(genericKey.with(["u_AuthCtx": NSObject(), "u_CredRef": Data()])).status == errSecParam)
            #expect(copy(genericKey.with(["u_OpPrompt": "why"])).status == errSecSuccess)
            #expect(copy(genericKey.with(["u_Bogus": true])).status == errSecParam)
        }
    }

    @Test("T115, T116: the protection class is checked and stored", arguments: Backend.allCases)
    func protection(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, [], nil))
            #expect(add(genericItem.with(["pdmn": "ck", "accc": control])) == errSecParam)
            for bad in ["xx" as Any, "f", 5, Data()] { #expect(add(genericItem.with(["pdmn": bad])) == errSecParam) }
            #expect(add(genericItem.with(["accc": control])) == errSecSuccess)
            #expect(copy(genericKey.with(.returnAttributes)).attributes?["pdmn"] as? String == "ck")
            #expect(copy(genericKey.with(["pdmn": "ck"])).status == errSecSuccess)
            #expect(copy(genericKey.with(["pdmn": "ak"])).status == errSecItemNotFound)
        }
    }

    @Test(
        "T118 to T122: the six secret fields of internet passwords are stored and returned with the data",
        arguments: Backend.allCases)
    func secretFields(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let fields: [String: Data] = [
                "binn": data("notes"), "bini": data("history"), "bin0": data("0"), "bin1": data("1"), "bin2": data("2"),
                "bin3": data("3"),
            ]
            let added = try #require(addReturning(internetItem.with(fields).with(.returnAttributes)).attributes)
            #expect(Set(added.keys).isDisjoint(with: fields.keys))
            #expect(
                Set(try #require(copy(internetKey.with(.returnAttributes)).attributes).keys).isDisjoint(
                    with: fields.keys))
            let all = copy(internetKey.with(.returnAttributes).with(.all)).dictionaries?.first
            #expect(Set(try #require(all).keys).isDisjoint(with: fields.keys))

            for limit in [Query(), .all] {
                let answer = copy(internetKey.with(.returnAttributes).with(.returnData).with(limit))
                let entry = try #require(answer.attributes ?? answer.dictionaries?.first)
                for (name, value) in fields { #expect(entry[name] as? Data == value) }
                #expect(entry["v_Data"] as? Data == data("s3cret"))
            }
            #expect(copy(internetKey.with(.returnData)).text == "s3cret")

            #expect(update(internetKey, ["bini": data("new")]) == errSecSuccess)
            let changed = try #require(copy(internetKey.with(.returnAttributes).with(.returnData)).attributes)
            for (name, value) in fields.merging(
                ["bini": data("new"), "v_Data": data("s3cret")], uniquingKeysWith: { $1 })
            {
                #expect(changed[name] as? Data == value)
            }
            #expect(copy(internetKey.with(["binn": data("notes")])).status == errSecParam)
        }
    }

    @Test("T123, T124: a host match finds the host and its subdomains", arguments: Backend.allCases)
    func hostOrSubdomain(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem.with(["srvr": "origin.example.com"]))
            for (host, status) in [
                "example.com": errSecSuccess, "origin.example.com": errSecSuccess, "foobar.com": errSecItemNotFound,
                "ample.com": errSecItemNotFound,
            ] {
                #expect(copy(item(inet, ["m_HostOrSubdomainOfHost": host])).status == status, "\(host)")
            }
            #expect(copy(item(genp, ["m_HostOrSubdomainOfHost": "example.com"])).status == errSecUnimplemented)
        }
    }

    @Test("T092, T098: match keys for certificates are checked", arguments: Backend.allCases)
    func certificateMatchKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(copy(item(genp, ["m_Issuers": [Data()]])).status == errSecUnimplemented)
            #expect(copy(item(genp, ["m_Policy": NSObject()])).status == errSecUnimplemented)
            #expect(copy(item(cert, ["m_ValidOnDate": "today"])).status == errSecParam)
            #expect(copy(item(cert, ["m_TrustedOnly": "yes"])).status == errSecParam)
            #expect(copy(item(cert, ["m_EmailAddressIfPresent": 5])).status == errSecParam)
            add(genericItem)
            #expect(
                copy(item(genp, ["m_TrustedOnly": true, "m_ValidOnDate": Date(), "m_Unknown": 1])).status
                    == errSecSuccess)
        }
    }

    @Test("§1.2: values are converted to the type of their attribute", arguments: Backend.allCases)
    func valueKinds(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem.with(["port": "443", "type": true, "crtr": "0443", "invi": "1"]))
            let attributes = try #require(copy(item(inet).with(.returnAttributes)).attributes)
            #expect(attributes["port"] as? Int == 443)
            #expect(attributes["ptcl"] as? String == "http")
            #expect(attributes["type"] as? Int == 1)
            #expect(attributes["crtr"] as? String == "0443")
            #expect(attributes["invi"] as? Int == 1)
            for (name, bad) in [
                ("acct", Date() as Any), ("acct", ["a"]), ("acct", 1.5), ("port", Data()), ("port", Double.nan),
                ("port", 1e300),
                ("port", UInt64.max), ("cdat", "yesterday"), ("cdat", 5), ("agrp", 7), ("agrp", Data([0xFF])),
                ("sync", "maybe"),
                ("sync", 2),
                ("sha1", Data(count: 19)), ("musr", Data(count: 3)), ("acct", NSNull()), ("v_Data", "text"),
                ("v_Data", NSNull()),
            ] {
                #expect(add(item(inet, ["srvr": "bad", name: bad])) == errSecParam, "\(name): \(bad)")
            }
            #expect(copy(item(inet, ["srvr": "bad"])).status == errSecItemNotFound)
        }
    }

    @Test("Malformed and unknown keys are refused", arguments: Backend.allCases)
    func strangeKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for name in [
                "", "a", "classy", "r_Bogus", "v_Bogus", "m", "u", "persistref", "data", "v_pk", "rowid", "ünï",
            ] {
                #expect(copy(item(genp, [name: "x"])).status == errSecParam, "\(name)")
            }
            var result: CFTypeRef?
            #expect(SecItemCopyMatching([5: "x"] as NSDictionary, &result) == errSecParam)
            #expect(copy(item(genp, ["r_Data": 1])).status == errSecParam)
            #expect(copy(item(genp, ["r_Data": "true"])).status == errSecParam)
            #expect(copy(item(genp, ["f_callback": NSObject()])).status == errSecItemNotFound)
            let many = Dictionary(uniqueKeysWithValues: (0..<200).map { ("m_\($0)xx", $0 as Any) })
            #expect(copy(item(genp, many)).status == errSecParam)
        }
    }

    @Test("Attributes and data with any content are returned unchanged", arguments: Backend.allCases)
    func anyContent(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let accounts: [Any] = [
                "", "nul\0inside", "ünïcödé 🔑", Data([0xFF, 0x00, 0xFE]), Data(), 42, -1, Int64.max,
                String(repeating: "x", count: 100_000),
            ]
            for (number, account) in accounts.enumerated() {
                let query = item(genp, ["svce": "service \(number)", "acct": account])
                #expect(add(query.with(["v_Data": Data([0, 10, 255])])) == errSecSuccess, "\(number)")
                let found = try #require(copy(query.with(.returnAttributes).with(.returnData)).attributes)
                #expect((found["acct"] as? NSObject) == (account as? NSObject), "\(number)")
                #expect(found["v_Data"] as? Data == Data([0, 10, 255]))
            }
            let big = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            #expect(add(genericItem.with(["acct": "big", "v_Data": big])) == errSecSuccess)
            #expect(copy(genericKey.with(["acct": "big"]).with(.returnData)).data == big)
            #expect(add(genericItem.with(["acct": "bigger", "v_Data": Data(count: 5 << 20)])) == errSecDataTooLarge)
        }
    }

    @Test(
        "Two values with the same bytes are one primary key; composed and decomposed text are two",
        arguments: Backend.allCases)
    func canonicalValues(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem.with(["acct": "é"])) == errSecSuccess)
            #expect(add(genericItem.with(["acct": "e\u{301}"])) == errSecSuccess)
            #expect(add(genericItem.with(["acct": Data("é".utf8)])) == errSecDuplicateItem)
            #expect(
                copy(genericKey.with(["acct": "e\u{301}"]).with(.returnAttributes)).attributes?["acct"] as? String
                    == "e\u{301}")
            #expect(copy(genericKey.with(["acct": "É", "m_CaseInsensitive": true])).status == errSecSuccess)
            #expect(copy(genericKey.with(["acct": "É"])).status == errSecItemNotFound)
            // The same applies to attributes without an index, and to values that one transaction
            // reads in both forms.
            #expect(update(genericKey.with(["acct": "é"]), ["icmt": "é", "labl": "é"]) == errSecSuccess)
            #expect(copy(genericKey.with(["acct": "é", "icmt": "e\u{301}"])).status == errSecItemNotFound)
            #expect(copy(genericKey.with(["acct": "é", "icmt": "é"])).status == errSecSuccess)
            #expect(update(genericKey.with(["acct": "é", "labl": "é"]), ["labl": "e\u{301}"]) == errSecSuccess)
            #expect(copy(genericKey.with(["acct": "é", "labl": "e\u{301}"]).with(.returnData)).text == "s3cret")
        }
    }

    @Test("§1.3: the system sets the creation and modification dates", arguments: Backend.allCases)
    func dates(_ backend: Backend) throws {
        try withKeychain(backend) { keychain in
            let past = Date(timeIntervalSinceReferenceDate: 5)
            add(genericItem.with(["cdat": past, "mdat": past]))
            func dates() throws -> (Date, Date) {
                let attributes = try #require(copy(genericKey.with(.returnAttributes)).attributes)
                return (try #require(attributes["cdat"] as? Date), try #require(attributes["mdat"] as? Date))
            }
            let (created, modified) = try dates()
            #expect(created.timeIntervalSinceReferenceDate == keychain.clock.now)
            #expect(modified == created)
            #expect(update(genericKey, ["icmt": "C"]) == errSecSuccess)
            let (_, second) = try dates()
            #expect(second > modified, "the modification date increases even if the clock does not")
            keychain.clock.advance(by: 60)
            #expect(update(genericKey, ["cdat": past, "mdat": past]) == errSecSuccess)
            let (third, fourth) = try dates()
            #expect(third == past)
            #expect(fourth.timeIntervalSinceReferenceDate == keychain.clock.now)
        }
    }

    @Test("An update keeps the attributes that it does not name", arguments: Backend.allCases)
    func updateKeeps(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem.with(["labl": "L", "icmt": "C", "desc": "D", "gena": data("G"), "pdmn": "ck"]))
            #expect(update(genericKey, ["icmt": "C2"]) == errSecSuccess)
            let attributes = try #require(copy(genericKey.with(.returnAttributes).with(.returnData)).attributes)
            #expect(attributes["labl"] as? String == "L")
            #expect(attributes["icmt"] as? String == "C2")
            #expect(attributes["desc"] as? String == "D")
            #expect(attributes["gena"] as? Data == data("G"))
            #expect(attributes["pdmn"] as? String == "ck")
            #expect(attributes["v_Data"] as? Data == data("s3cret"))
            #expect(update(genericKey, ["pdmn": "dku"]) == errSecSuccess)
            #expect(copy(genericKey.with(.returnAttributes)).attributes?["pdmn"] as? String == "dku")
            #expect(copy(genericKey.with(.returnData)).text == "s3cret")
        }
    }
}
