// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// keychain-behaviour §7.7 and claimed identities (Documentation/Decisions/0033-caller-identity.md).
@Suite("Access groups", .serialized)
struct AccessGroupTests {
    @Test("T138, T139, T140, T152: an identity without any group is refused by every call", arguments: Backend.allCases)
    func noGroups(_ backend: Backend) throws {
        try withKeychain(backend, groups: []) { _ in
            #expect(copy(genericKey).status == errSecMissingEntitlement)
            #expect(add(genericItem) == errSecMissingEntitlement)
            #expect(update(genericKey, ["icmt": "C"]) == errSecMissingEntitlement)
            #expect(delete(genericKey) == errSecMissingEntitlement)
        }
    }

    @Test("T141, T143: all four calls work with an entitled group, named or not", arguments: Backend.allCases)
    func entitled(_ backend: Backend) throws {
        try withKeychain(backend, groups: ["G1"]) { _ in
            for group in [Query(), ["agrp": "G1"]] {
                #expect(add(genericItem.with(group)) == errSecSuccess)
                #expect(copy(genericKey.with(group)).status == errSecSuccess)
                #expect(update(genericKey.with(group), ["icmt": "C"]) == errSecSuccess)
                #expect(delete(genericKey.with(group)) == errSecSuccess)
            }
        }
    }

    @Test("T145, T146: an item is added to the first group; a search covers all groups", arguments: Backend.allCases)
    func firstGroup(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(addReturning(genericItem.with(.returnAttributes)).attributes?["agrp"] as? String == "G1")
            add(genericItem.with(["agrp": "G2", "acct": "B"]))
            #expect(copy(genericKey.with(["acct": "B"])).status == errSecSuccess)
            #expect(update(genericKey.with(["acct": "B"]), ["icmt": "C"]) == errSecSuccess)
            #expect(delete(genericKey.with(["acct": "B"])) == errSecSuccess)
        }
    }

    @Test("T147, T148, T149: a group that is not one of the program's is refused", arguments: Backend.allCases)
    func foreignGroup(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: ["X"]) { #expect(add(genericItem) == errSecSuccess) }
        keychain.run(groups: ["G1"]) {
            let named = genericKey.with(["agrp": "X"])
            #expect(add(genericItem.with(["agrp": "X"])) == errSecMissingEntitlement)
            #expect(copy(named).status == errSecMissingEntitlement)
            #expect(update(named, ["icmt": "C"]) == errSecMissingEntitlement)
            #expect(delete(named) == errSecMissingEntitlement)

            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(update(genericKey, ["icmt": "C"]) == errSecItemNotFound)
            #expect(delete(genericKey) == errSecItemNotFound)

            add(genericItem)
            #expect(update(genericKey, ["agrp": "X"]) == errSecMissingEntitlement)
            #expect(copy(genericKey.with(.returnAttributes)).attributes?["agrp"] as? String == "G1")
        }
        keychain.run(groups: ["X"]) { #expect(copy(genericKey.with(.returnData)).text == "s3cret") }
    }

    @Test("T150: an item moves between entitled groups", arguments: Backend.allCases)
    func move(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(update(genericKey.with(["agrp": "G1"]), ["agrp": "G2"]) == errSecSuccess)
            #expect(copy(genericKey.with(["agrp": "G1"])).status == errSecItemNotFound)
            #expect(copy(genericKey.with(["agrp": "G2"]).with(.returnData)).text == "s3cret")
        }
    }

    @Test("T151: a lost entitlement hides the item, a regained one shows it", arguments: Backend.allCases)
    func lostAndRegained(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: ["G1", "G2"]) { #expect(add(genericItem.with(["agrp": "G2"])) == errSecSuccess) }
        keychain.run(groups: ["G1"]) { #expect(copy(genericKey).status == errSecItemNotFound) }
        keychain.run(groups: ["G1", "G2"]) { #expect(copy(genericKey).status == errSecSuccess) }
    }

    @Test("T153, T154: the token group is empty and read-only", arguments: Backend.allCases)
    func tokenGroup(_ backend: Backend) throws {
        try withKeychain(backend, groups: ["G1"]) { _ in
            let token = ["agrp": "com.apple.token"]
            add(genericItem)
            #expect(copy(genericKey.with(token)).status == errSecItemNotFound)
            #expect(add(genericItem.with(token)) == errSecMissingEntitlement)
            #expect(update(genericKey.with(token), ["icmt": "C"]) == errSecMissingEntitlement)
            #expect(update(genericKey, token) == errSecMissingEntitlement)
            #expect(delete(genericKey.with(token)) == errSecMissingEntitlement)
        }
    }

    @Test("A program that declares only the token group cannot add items", arguments: Backend.allCases)
    func tokenGroupAlone(_ backend: Backend) throws {
        try withKeychain(backend, groups: ["com.apple.token"]) { _ in
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(add(genericItem) == errSecMissingEntitlement)
            #expect(update(genericKey, ["icmt": "C"]) == errSecMissingEntitlement)
            #expect(delete(genericKey) == errSecMissingEntitlement)
        }
    }

    @Test(
        "Deleting all items of several groups is refused if one of them is not one of the program's",
        arguments: Backend.allCases)
    func deleteAllIsWhole(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            add(genericItem)
            #expect(!SecItemDeleteAllWithAccessGroups(["G1", "X"] as CFArray, nil))
            #expect(copy(genericKey).status == errSecSuccess)
        }
    }

    @Test("The same primary key in another group is another item", arguments: Backend.allCases)
    func groupsAreApart(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(genericItem.with(["agrp": "G1"])) == errSecSuccess)
            #expect(add(genericItem.with(["agrp": "G2"])) == errSecSuccess)
            #expect(update(genericKey.with(["agrp": "G1"]), ["agrp": "G2"]) == errSecDuplicateItem)
        }
    }

    @Test("A wildcard cannot be claimed", arguments: Backend.allCases)
    func claimedWildcard(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: ["X"]) { #expect(add(genericItem) == errSecSuccess) }
        keychain.run(groups: ["*"]) { #expect(copy(genericKey).status == errSecMissingEntitlement) }
        keychain.run(groups: ["G1", "*"]) { #expect(copy(genericKey).status == errSecMissingEntitlement) }
    }

    @Test(
        "Programs without an identity have groups of their own, and share one; a program with an identity has none of these",
        arguments: Backend.allCases)
    func sharedGroup(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: nil, executable: "/usr/bin/one") {
            #expect(
                addReturning(genericItem.with(.returnAttributes)).attributes?["agrp"] as? String == "program.one")
        }
        keychain.run(groups: nil, executable: "/usr/bin/two") {
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(genericKey.with(["agrp": "program.one"])).status == errSecMissingEntitlement)
            #expect(add(genericItem.with(["agrp": "latchkey.shared"])) == errSecSuccess)
        }
        keychain.run(groups: nil, executable: "/usr/bin/three") {
            #expect(copy(genericKey.with(.returnData)).text == "s3cret")
        }
        keychain.run(groups: ["G1"]) {
            #expect(copy(genericKey).status == errSecItemNotFound)
            #expect(copy(genericKey.with(["agrp": "latchkey.shared"])).status == errSecMissingEntitlement)
        }
        keychain.run(groups: ["G1", "latchkey.shared"]) { #expect(copy(genericKey).status == errSecSuccess) }
    }

    @Test(
        "In the shared group, a bulk delete or update affects only the items of the same program",
        arguments: Backend.allCases)
    func bulkChangesStayHome(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: nil, executable: "/usr/bin/one") {
            #expect(add(genericItem.with(["acct": "one", "agrp": "latchkey.shared"])) == errSecSuccess)
        }
        keychain.run(groups: nil, executable: "/usr/bin/two") {
            #expect(add(genericItem.with(["acct": "two", "agrp": "latchkey.shared"])) == errSecSuccess)
            #expect(update(item(genp), ["icmt": "mine"]) == errSecSuccess)
            #expect(copy(item(genp, ["icmt": "mine"]).with(.all).with(.returnAttributes)).list?.count == 1)
            #expect(delete(item(genp)) == errSecSuccess)
            #expect(delete(item(genp)) == errSecItemNotFound)
            #expect(copy(item(genp).with(.returnAttributes)).attributes?["acct"] as? String == "one")
            #expect(
                delete(item(genp, ["acct": "one"])) == errSecSuccess, "a delete by primary key affects shared items")
        }
    }

    @Test(
        "The user's command has access to every claimed group, and adds to the shared group",
        arguments: Backend.allCases)
    func userCommand(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        keychain.run(groups: ["X"]) { #expect(add(genericItem.with(["acct": "X"])) == errSecSuccess) }
        keychain.run(groups: nil, isUserCommand: true) {
            #expect(copy(item(genp, ["acct": "X"]).with(.returnData)).text == "s3cret")
            #expect(
                addReturning(genericItem.with(.returnAttributes)).attributes?["agrp"] as? String == "latchkey.shared")
            #expect(add(genericItem.with(["agrp": "Y"])) == errSecSuccess)
        }
        keychain.run(groups: nil, executable: "/usr/bin/two") { #expect(copy(genericKey).status == errSecSuccess) }
        keychain.run(groups: nil, isUserCommand: true) {
            for group in ["com.apple.token", "*", ""] {
                #expect(add(genericItem.with(["agrp": group])) == errSecMissingEntitlement)
            }
        }
    }
}
