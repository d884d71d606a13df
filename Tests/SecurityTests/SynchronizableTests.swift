// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.6.
@Suite("Synchronizable items", .serialized)
struct SynchronizableTests {
    @Test("T125, T126, T127: a search finds a synchronized item only on request", arguments: Backend.allCases)
    func visibility(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(internetItem.with(["sync": true])) == errSecSuccess)
            #expect(copy(internetKey).status == errSecItemNotFound)
            for value in [true as Any, 1, "1", "syna", kSecAttrSynchronizableAny] {
                #expect(copy(internetKey.with(["sync": value])).status == errSecSuccess, "\(value)")
            }
            for value in [false as Any, 0, "0"] {
                #expect(copy(internetKey.with(["sync": value])).status == errSecItemNotFound, "\(value)")
            }
        }
    }

    @Test("T128, T129, T130: updates and deletes find a synchronized item only on request", arguments: Backend.allCases)
    func changes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(internetItem.with(["sync": true]))
            #expect(update(internetKey, ["icmt": "C"]) == errSecItemNotFound)
            #expect(update(internetKey.with(["sync": true]), ["icmt": "C"]) == errSecSuccess)
            #expect(copy(item(inet, ["sync": true, "icmt": "C"])).status == errSecSuccess)
            #expect(delete(internetKey) == errSecItemNotFound)
            #expect(delete(internetKey.with(["sync": true])) == errSecSuccess)
        }
    }

    @Test(
        "T131, T132, T133: a local and a synchronized item with the same attributes coexist",
        arguments: Backend.allCases)
    func sideBySide(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(add(genericItem.with(["sync": true])) == errSecSuccess)
            #expect(add(genericItem.with(["sync": "syna"])) == errSecDuplicateItem)
            #expect(copy(genericKey.with(["sync": "syna"]).with(.all).with(.returnData)).list?.count == 2)
            #expect(delete(genericKey.with(["sync": "syna"])) == errSecSuccess)
            #expect(copy(genericKey.with(["sync": "syna"])).status == errSecItemNotFound)
        }
    }

    @Test(
        "T134: a deleted synchronized item leaves a tombstone that is found only on request",
        arguments: Backend.allCases)
    func tombstone(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let query = genericKey.with(["sync": true])
            add(genericItem.with(["sync": true, "icmt": "C"]))
            #expect(delete(query) == errSecSuccess)
            #expect(copy(query).status == errSecItemNotFound)
            let remains = try #require(
                copy(query.with(["u_Tomb": true]).with(.returnAttributes).with(.returnData)).attributes)
            #expect(remains["tomb"] as? Int == 1)
            #expect(remains["acct"] as? String == "A")
            #expect(remains["icmt"] == nil)
            #expect(remains["v_Data"] == nil)
            #expect(delete(query) == errSecItemNotFound)
            #expect(
                update(query.with(["u_Tomb": true]), ["v_Data": data("x")]) == errSecItemNotFound,
                "a tombstone cannot be updated")

            add(genericItem)
            #expect(delete(genericKey) == errSecSuccess)
            #expect(
                copy(genericKey.with(["u_Tomb": true])).status == errSecItemNotFound, "local items leave no tombstone")
        }
    }

    @Test("T135: adding the item of a tombstone again reuses its reference", arguments: Backend.allCases)
    func revival(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let new = genericItem.with(["sync": true])
            let reference = try #require(addReturning(new.with(.returnReference)).data)
            #expect(delete(genericKey.with(["sync": true])) == errSecSuccess)
            #expect(addReturning(new.with(["v_Data": data("again")]).with(.returnReference)).data == reference)
            #expect(copy(["v_PersistentRef": reference].with(.returnData)).text == "again")
        }
    }

    @Test("T136: constraints and synchronization exclude each other", arguments: Backend.allCases)
    func exclusions(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            #expect(add(genericItem.with(["sync": true, "accc": control])) == errSecParam)
        }
    }

    @Test(
        "T137: a ThisDeviceOnly item can be synchronizable; it is found as such, and its deletion leaves no tombstone",
        arguments: Backend.allCases)
    func deviceOnly(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            for code in ["aku", "cku", "dku"] {
                let synced = genericKey.with(["sync": true])
                #expect(add(genericItem.with(["sync": true, "pdmn": code])) == errSecSuccess, "\(code)")
                #expect(copy(genericKey).status == errSecItemNotFound)
                #expect(copy(synced.with(.returnData)).text == "s3cret")
                let attributes = copy(synced.with(.returnAttributes)).attributes
                #expect(attributes?["sync"] as? Int == 1 && attributes?["pdmn"] as? String == code)
                #expect(delete(synced) == errSecSuccess)
                #expect(copy(synced.with(["u_Tomb": true])).status == errSecItemNotFound, "\(code)")
            }
            // An update can also combine the two attributes, in either order.
            add(genericItem.with(["pdmn": "cku"]))
            #expect(update(genericKey, ["sync": true]) == errSecSuccess)
            add(genericItem.with(["acct": "B", "sync": true]))
            #expect(update(genericKey.with(["acct": "B", "sync": true]), ["pdmn": "aku"]) == errSecSuccess)
            #expect(delete(item(genp, ["sync": true])) == errSecSuccess)
            #expect(copy(item(genp, ["sync": "syna", "u_Tomb": true])).status == errSecItemNotFound)
            // akpu requires a passcode, as always.
            #expect(add(genericItem.with(["sync": true, "pdmn": "akpu"])) == errSecNotAvailable)
        }
    }

    @Test("An update changes an item from local to synchronized and back", arguments: Backend.allCases)
    func move(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(update(genericKey, ["sync": true]) == errSecSuccess)
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(genericKey.with(["sync": true]).with(.returnData)).text == "s3cret")
            #expect(update(genericKey.with(["sync": true]), ["sync": "syna"]) == errSecParam)
        }
    }

    @Test("An access control without flags makes a plain item, until its class is changed", arguments: Backend.allCases)
    func withoutFlags(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let plain = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
            #expect(add(genericItem.with(["accc": plain])) == errSecSuccess)
            #expect(copy(genericKey.with(.returnAttributes)).attributes?["accc"] as? SecAccessControl == plain)
            #expect(update(genericKey, ["pdmn": "ck"]) == errSecSuccess)
            #expect(
                copy(genericKey.with(.returnAttributes)).attributes?["accc"] as? SecAccessControl != plain, "§9.2, 5")
        }
    }

    @Test(
        "A constrained key in memory would not obey, and is refused; a key with a token is not stored",
        arguments: Backend.allCases)
    func unenforceableKeys(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            func made(_ parameters: Query) -> Int {
                var error: Unmanaged<CFError>?
                let all = parameters.with(["type": 73, "bsiz": 256]) as CFDictionary
                guard SecKeyCreateRandomKey(all, &error) == nil else { return 0 }
                return error?.takeRetainedValue().code ?? 1
            }
            for flags in [
                SecAccessControlCreateFlags.userPresence, [.privateKeyUsage, .biometryCurrentSet], .applicationPassword,
            ] {
                let control = try #require(
                    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
                #expect(made(["private": ["perm": false, "accc": control]]) == -4)
                #expect(made(["private": ["accc": control], "perm": false]) == -4)
                #expect(made(["accc": control]) == -4)
            }
            #expect(made(["private": ["accc": "ak"]]) == -50)
            #expect(copy(item(keys)).status == errSecItemNotFound)
            for flags in [SecAccessControlCreateFlags.privateKeyUsage, []] {
                let control = try #require(
                    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
                #expect(made(["private": ["perm": false, "accc": control]]) == 0)
            }
            let key = item(keys, ["type": 73, "kcls": 1, "atag": data("t"), "v_Data": data("bytes")])
            for token in [kSecAttrTokenIDSecureEnclave as String, "com.apple.setoken:aks", "other"] {
                #expect(add(key.with(["tkid": token])) == errSecUnimplemented)
                #expect(add(key.without("v_Data").with(["tkid": token])) == errSecUnimplemented)
            }
            #expect(copy(item(keys)).status == errSecItemNotFound)
            add(key)
            #expect(update(item(keys), ["tkid": "com.apple.setoken"]) == errSecUnimplemented)
            #expect(copy(item(keys).with(.returnAttributes)).attributes?["tkid"] == nil)
            // On a password the attribute has no meaning.
            #expect(add(genericItem.with(["tkid": "com.apple.setoken"])) == errSecSuccess)
        }
    }

    @Test("T193: without a passcode the class akpu has no class key", arguments: Backend.allCases)
    func akpu(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem.with(["pdmn": "akpu"])) == errSecNotAvailable)
            add(genericItem)
            #expect(update(genericKey, ["pdmn": "akpu"]) == errSecNotAvailable)
            #expect(copy(genericKey.with(.returnData)).text == "s3cret")
        }
    }
}
