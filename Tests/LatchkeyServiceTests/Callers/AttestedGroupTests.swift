// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Access groups of both grades in one keychain.
@Suite("Attested groups")
struct AttestedGroupTests {
    private let attested = CallerIdentity(executable: "/usr/bin/service", attestedGroups: ["G", "H"])
    private let claiming = CallerIdentity(executable: "/usr/bin/other", declaredGroups: ["G", "H"])

    private func item(_ account: String, group: String? = nil) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: "v".utf8)), accessGroup: group)
    }

    private let query = ItemQuery(.genericPassword, limit: .all)

    @Test(
        "A claim never reaches an attested group of the same name, nor the reverse", arguments: Backend.allCases
    )
    func apart(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let made = try keychain.service.by(attested).add(item("a"))
        #expect(made.accessGroup == AccessGroup("G", grade: .attested))
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(claiming).copyMatching(query, returning: .data).required()
            } == -25300)
        var named = query
        named.accessGroup = "G"
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(claiming).copyMatching(named, returning: .data).required()
            } == -25300)
        #expect(
            status { () throws(KeychainError) in _ = try keychain.service.by(claiming).delete(query).required() }
                == -25300)
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(claiming).update(query, with: ItemUpdate()).required()
            } == -25300)
        // The same account and service in the claimed group of the same name is a different item.
        #expect(try keychain.service.by(claiming).add(item("a")).accessGroup == AccessGroup("G", grade: .claimed))
        #expect(try keychain.service.by(attested).copyMatching(query, returning: .data).records.count == 1)
    }

    @Test(
        "Neither a claim nor the user's own command finds an attested item by its persistent reference",
        arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let made = try keychain.service.by(attested).add(item("a"))
        let query = ItemQuery(nil, persistentReference: made.persistentReference)
        for caller in [
            claiming, CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true),
            CallerIdentity(executable: "/x"),
        ] {
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(caller).copyMatching(query, returning: .data).required()
                }
                    == -25300)
        }
    }

    @Test("An attested caller also has its claimed groups, after the attested ones", arguments: Backend.allCases)
    func both(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let caller = CallerIdentity(executable: "/usr/bin/service", declaredGroups: ["own"], attestedGroups: ["G"])
        #expect(try keychain.service.by(caller).add(item("a")).accessGroup == AccessGroup("G", grade: .attested))
        #expect(
            try keychain.service.by(caller).add(item("b", group: "own")).accessGroup
                == AccessGroup("own", grade: .claimed))
        #expect(try keychain.service.by(caller).copyMatching(query, returning: .data).records.count == 2)
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).add(item("c", group: "latchkey.shared"))
            } == -34018
        )
    }

    @Test(
        "A wildcard of the administrator reaches every attested group, and no claimed one",
        arguments: Backend.allCases)
    func wildcard(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        _ = try keychain.service.by(attested).add(item("a"))
        _ = try keychain.service.by(attested).add(item("b", group: "H"))
        _ = try keychain.service.by(claiming).add(item("c"))
        let all = CallerIdentity(executable: "/usr/bin/admin", attestedGroups: ["first", "*"])
        #expect(try keychain.service.by(all).copyMatching(query, returning: .data).records.count == 2)
        #expect(try keychain.service.by(all).add(item("d")).accessGroup == AccessGroup("first", grade: .attested))
        let only = CallerIdentity(executable: "/usr/bin/admin", attestedGroups: ["*"])
        #expect(status { () throws(KeychainError) in _ = try keychain.service.by(only).add(item("e")) } == -34018)
    }

    @Test("A caller that the administrator names without a group has no group", arguments: Backend.allCases)
    func noGroup(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let caller = CallerIdentity(executable: "/usr/bin/service", attestedGroups: [])
        #expect(status { () throws(KeychainError) in _ = try keychain.service.by(caller).add(item("a")) } == -34018)
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).copyMatching(query, returning: .data)
            } == -34018)
    }
}
