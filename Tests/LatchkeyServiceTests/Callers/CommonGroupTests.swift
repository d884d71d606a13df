// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Access groups that every program of the user outside of sandboxes may use, if it names them.
@Suite("Common groups")
struct CommonGroupTests {
    private static let group = "org.freedesktop.secrets.Work"

    private static let anonymous = CallerIdentity(executable: "/usr/bin/a")
    private static let other = CallerIdentity(executable: "/usr/bin/b")
    private static let declared = CallerIdentity(executable: "/usr/bin/c", declaredGroups: ["G1"])
    private static let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)

    private static func item(_ account: String, group: String?) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: "v".utf8)), accessGroup: group)
    }

    private static func query(_ groups: [String]) -> ItemQuery {
        var query = ItemQuery(.genericPassword, limit: .all)
        query.accessGroups = groups
        return query
    }

    private static func accounts(
        _ query: ItemQuery, _ caller: CallerIdentity, _ keychain: TestKeychain
    ) throws -> [String] {
        try keychain.service.by(caller).copyMatching(query, returning: .attributes).records
            .compactMap { $0[.account]?.text }
    }

    @Test("Programs with and without an identity share the items, if they name the group", arguments: Backend.allCases)
    func shared(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        _ = try keychain.service.by(Self.anonymous).add(Self.item("1", group: Self.group))
        _ = try keychain.service.by(Self.declared).add(Self.item("2", group: Self.group))
        for caller in [Self.anonymous, Self.other, Self.declared, Self.command] {
            #expect(try Self.accounts(Self.query([Self.group]), caller, keychain) == ["1", "2"])
        }
        // Without a name, they are items of others.
        for caller in [Self.anonymous, Self.declared] {
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(caller).copyMatching(Self.query([]), returning: .attributes).required()
                } == -25300)
        }
        // A caller that names the group means the items of every program.
        #expect(try keychain.service.by(Self.other).delete(Self.query([Self.group])) == 2)
    }

    @Test("One query finds the items of several groups", arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let items: [(String, String?)] = [
            ("1", "latchkey.shared"), ("2", Self.group), ("3", "org.freedesktop.secrets.Home"),
        ]
        for (account, group) in items {
            _ = try keychain.service.by(Self.anonymous).add(Self.item(account, group: group))
        }
        let both = Self.query(["latchkey.shared", Self.group])
        #expect(try Self.accounts(both, Self.other, keychain) == ["1", "2"])
        // One that the program lacks denies all.
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(Self.declared).copyMatching(both, returning: .attributes)
            } == -34018)
    }

    @Test("Sandboxed and attested programs do not have common groups", arguments: Backend.allCases)
    func others(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        _ = try keychain.service.by(Self.anonymous).add(Self.item("1", group: Self.group))
        for caller in [
            CallerIdentity(executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App")),
            CallerIdentity(executable: "/usr/bin/service", attestedGroups: ["G"]),
            CallerIdentity(executable: "/usr/bin/service", attestedGroups: ["*"]),
        ] {
            let code = status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).copyMatching(Self.query([Self.group]), returning: .data).required()
            }
            #expect([-34018, -25300].contains(code), "\(code)")
        }
    }

    @Test("A program gets the secret that the portal has stored for an application", arguments: Backend.allCases)
    func sandbox(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let application = CallerIdentity(
            executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App"))
        _ = try keychain.service.by(Self.anonymous).add(Self.item("1", group: "flatpak.org.example.App"))
        #expect(try Self.accounts(Self.query([]), application, keychain) == ["1"])
    }

    @Test("The user's command reads collections without the passcode, and not the groups of other programs")
    func command() throws {
        let keychain = try TestKeychain(.daemon)
        _ = try keychain.service.by(Self.anonymous).add(Self.item("1", group: Self.group))
        _ = try keychain.service.by(Self.declared).add(Self.item("2", group: nil))
        try keychain.setPasscode()
        func read(_ group: String) -> Int32 {
            status { () throws(KeychainError) in
                _ = try keychain.service.by(Self.command).copyMatching(Self.query([group]), returning: .data)
            }
        }
        #expect(read(Self.group) == 0)
        #expect(read("G1") == -25308)
    }
}
