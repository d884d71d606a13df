// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.4, for certificates and keys that are stored by attributes and data.
@Suite("Certificates and keys by attributes", .serialized)
struct StoredClassesTests {
    @Test(
        "T076, T077: a key is found by its label, and its certificate by the public key hash",
        arguments: Backend.allCases)
    func keyAndCertificate(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let hash = Data((0..<20).map { UInt8($0) })
            #expect(
                add(item(keys, ["kcls": "1", "klbl": hash, "priv": true, "type": "42", "v_Data": data("key")]))
                    == errSecSuccess)
            #expect(
                add(item(cert, ["pkhh": hash, "issr": data("issuer"), "slnr": data("1"), "v_Data": data("der")]))
                    == errSecSuccess)
            #expect(copy(item(keys, ["klbl": hash]).with(.returnData)).text == "key")
            #expect(copy(item(cert, ["pkhh": hash]).with(.returnData)).text == "der")
        }
    }

    @Test("T089: a key alone or a certificate alone does not form an identity", arguments: Backend.allCases)
    func noIdentity(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(item(keys, ["klbl": data("12345678901234567890"), "priv": true]))
            #expect(copy(item(idnt)).status == errSecItemNotFound)
            add(item(cert, ["pkhh": data("other")]))
            #expect(copy(item(idnt)).status == errSecItemNotFound)
        }
    }

    @Test("T093: all certificates are counted", arguments: Backend.allCases)
    func allCertificates(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for number in 0..<6 { add(item(cert, ["slnr": Data([UInt8(number)])])) }
            #expect(copy(item(cert).with(.all).with(.returnAttributes)).list?.count == 6)
        }
    }

    @Test("T044, T045: attributes of another class are refused", arguments: Backend.allCases)
    func foreignAttribute(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(item(cert, ["atag": data("tag")])) == errSecNoSuchAttr)
            #expect(delete(item(cert, ["atag": data("tag")])) == errSecNoSuchAttr)
        }
    }

    @Test("An identity has no row of its own", arguments: Backend.allCases)
    func identityByAttributes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(item(idnt, ["labl": "L"])) == errSecParam)
        }
    }

    @Test(
        "§0.4, §0.7: keys and certificates have default attributes and normalized numbers", arguments: Backend.allCases)
    func defaults(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let key = try #require(
                addReturning(item(keys, ["kcls": "1", "type": "42"]).with(.returnAttributes)).attributes)
            #expect(key["kcls"] as? Int == 1)
            #expect(key["type"] as? Int == 42)
            #expect(key["pdmn"] as? String == "ak")
            #expect(key["bsiz"] as? Int == 0)
            #expect(key["sdat"] as? Date == Date(timeIntervalSinceReferenceDate: 0))
            let certificate = try #require(addReturning(item(cert).with(.returnAttributes)).attributes)
            #expect(certificate["pdmn"] as? String == "dk")
            #expect(certificate["ctyp"] as? Int == 0)
        }
    }

    @Test("Each attribute of the primary key distinguishes keys", arguments: Backend.allCases)
    func keyPrimaryKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(item(keys)) == errSecSuccess)
            let date = Date(timeIntervalSinceReferenceDate: 1)
            for (name, value) in [
                ("kcls", 1 as Any), ("klbl", data("x")), ("atag", data("x")), ("crtr", 1), ("type", 73), ("bsiz", 256),
                ("esiz", 256),
                ("sdat", date), ("edat", date),
            ] {
                #expect(add(item(keys, [name: value])) == errSecSuccess, "\(name)")
                #expect(add(item(keys, [name: value])) == errSecDuplicateItem, "\(name)")
            }
            #expect(add(item(keys, ["labl": "x"])) == errSecDuplicateItem)
        }
    }

    @Test("Each attribute of the primary key distinguishes internet passwords", arguments: Backend.allCases)
    func internetPrimaryKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(internetItem) == errSecSuccess)
            for (name, value) in [
                ("acct", "bob" as Any), ("sdmn", "realm"), ("srvr", "host9"), ("ptcl", "htps"), ("atyp", "form"),
                ("port", 81),
                ("path", "/x"),
            ] {
                #expect(add(internetItem.with([name: value])) == errSecSuccess, "\(name)")
            }
            #expect(add(internetItem) == errSecDuplicateItem)
        }
    }

    @Test("A certificate is found by a part of its subject", arguments: Backend.allCases)
    func subjectContains(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(item(cert, ["slnr": data("1"), "subj": data("CN=Alice Example")]))
            #expect(copy(item(cert, ["m_SubjectContains": "Alice"])).status == errSecSuccess)
            #expect(copy(item(cert, ["m_SubjectContains": "alice"])).status == errSecItemNotFound)
            #expect(
                copy(item(cert, ["m_SubjectContains": "alice", "m_CaseInsensitive": true])).status == errSecSuccess)
        }
    }

    @Test(
        "A sync view hint is stored and searched in every class; callers cannot use the column persistref",
        arguments: Backend.allCases)
    func syncViewHint(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for itemClass in [genp, inet, keys, cert] {
                #expect(add(item(itemClass, ["labl": "L", "vwht": "PCS-Notes"])) == errSecSuccess)
                #expect(
                    copy(item(itemClass, ["vwht": "PCS-Notes"]).with(.returnAttributes)).attributes?["vwht"] as? String
                        == "PCS-Notes")
                #expect(copy(item(itemClass, ["vwht": "other"])).status == errSecItemNotFound)
                #expect(update(item(itemClass, ["vwht": "PCS-Notes"]), ["vwht": "other"]) == errSecSuccess)
                #expect(copy(item(itemClass, ["vwht": "other"])).status == errSecSuccess)
                #expect(
                    copy(item(itemClass, [kSecAttrPersistentReference as String: Data(count: 16)])).status
                        == errSecParam)
                #expect(copy(item(itemClass).with(.returnAttributes)).attributes?["persistref"] == nil)
            }
        }
    }
}
