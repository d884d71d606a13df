// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
@testable import LatchkeyService
import SecretMemory
import Testing

/// The own group of a program that declares no identity, before the shared one.
@Suite("Own groups of programs")
struct OwnGroupTests {
    private static let notes = CallerIdentity(executable: "/usr/bin/notes")
    private static let mail = CallerIdentity(executable: "/usr/bin/mail")
    private static let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)

    private static func item(_ account: String, _ secret: String, group: String? = nil) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: secret.utf8)), accessGroup: group)
    }

    private static func query(_ account: String? = nil, limit: MatchLimit? = nil) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string("s")]
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(.genericPassword, attributes: attributes, limit: limit)
    }

    private static func secrets(
        _ caller: CallerIdentity, _ query: ItemQuery, _ keychain: TestKeychain
    ) throws(KeychainError) -> [String] {
        try keychain.service.by(caller).copyMatching(query, returning: .data).records.map { record in
            record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    // MARK: Names

    @Test("The group is the file name of the executable, and that of a test bundle")
    func names() {
        for (path, name) in [
            ("/usr/bin/notes", "program.notes"), ("notes", "program.notes"), ("/opt/My App", "program.My App"),
            ("/opt/é", "program.é"), ("/build/appPackageTests.xctest", "program.appPackageTests"),
            ("/x/.xctest", "program..xctest"), ("/x/a*", "program.a*"),
            ("/x/" + String(repeating: "n", count: 120), "program." + String(repeating: "n", count: 120)),
        ] {
            let group = AccessGroup.program(path)
            #expect(group == AccessGroup(name, grade: .claimed), "\(path)")
            #expect(group.flatMap { CollectionName($0) }?.accessGroup == group)
        }
        for path in [
            "", "/", "/usr/bin/", "/x/a\nb", "/x/a\u{202E}b", "/x/\u{0}", "/x/" + String(repeating: "n", count: 121),
        ] {
            #expect(AccessGroup.program(path) == nil, "\(path)")
        }
    }

    @Test("A program without a name that a group can have gets no group")
    func noName() throws {
        let keychain = try TestKeychain(.ephemeral)
        let caller = CallerIdentity(executable: "/x/a\nb")
        #expect(
            status { () throws(KeychainError) in
                _ = try keychain.service.by(caller).add(Self.item("a", "1"))
            } == -34018)
        #expect(status { () throws(KeychainError) in _ = try Self.secrets(caller, Self.query(), keychain) } == -34018)
    }

    @Test("A reserved name and a reserved claim give no group, and the error names the file")
    func reserved() throws {
        let keychain = try TestKeychain(.ephemeral)
        var caller = Self.notes
        caller.withheldGroups = ["program.notes": "/etc/latchkey/entitlements.d/notes.plist"]
        var error = #expect(throws: KeychainError.self) { try Self.secrets(caller, Self.query(), keychain) }
        #expect(error?.status == .missingEntitlement && error?.hint?.contains("notes.plist") == true)
        caller = CallerIdentity(executable: "/usr/bin/notes", declaredGroups: ["G1", "G2"])
        caller.withheldGroups = ["G1": "file"]
        _ = try keychain.service.by(caller).add(Self.item("a", "1"))
        #expect(
            try keychain.service.by(Self.command).copyMatching(Self.query(), returning: .attributes).records
                .map(\.accessGroup.name) == ["G2"])
        error = #expect(throws: KeychainError.self) {
            _ = try keychain.service.by(caller).add(Self.item("b", "1", group: "G1"))
        }
        #expect(error?.problem.contains("reserved") == true)
        caller.withheldGroups = ["G1": "file", "G2": "file"]
        error = #expect(throws: KeychainError.self) { try Self.secrets(caller, Self.query(), keychain) }
        #expect(error?.problem.contains("'G1' is reserved") == true)
    }

    // MARK: Items

    @Test("Two programs do not see each other's items; the user's command sees all", arguments: Backend.allCases)
    func apart(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let added = try keychain.service.by(Self.notes).add(Self.item("a", "of notes"))
        #expect(added.accessGroup.name == "program.notes")
        _ = try keychain.service.by(Self.mail).add(Self.item("a", "of mail"))
        #expect(try Self.secrets(Self.notes, Self.query("a", limit: .all), keychain) == ["of notes"])
        #expect(try Self.secrets(Self.mail, Self.query("a", limit: .all), keychain) == ["of mail"])
        #expect(try Self.secrets(Self.command, Self.query("a", limit: .all), keychain) == ["of notes", "of mail"])
        var other = Self.query("a")
        other.accessGroup = "program.mail"
        #expect(status { () throws(KeychainError) in _ = try Self.secrets(Self.notes, other, keychain) } == -34018)
    }

    @Test(
        "An addition, a duplicate, an update and a look-up mean the own item, before a shared one",
        arguments: Backend.allCases)
    func upsert(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let (notes, command) = (keychain.service.by(Self.notes), keychain.service.by(Self.command))
        _ = try command.add(Self.item("a", "shared"))
        // What the command has added is found, and updated.
        #expect(try Self.secrets(Self.notes, Self.query("a"), keychain) == ["shared"])
        let update = ItemUpdate(data: SharedSecret(copying: "updated".utf8))
        #expect(try notes.update(Self.query("a"), with: update) == 1)
        #expect(try Self.secrets(Self.command, Self.query("a", limit: .all), keychain) == ["updated"])
        // The own one takes its place.
        _ = try notes.add(Self.item("a", "own"))
        #expect(status { () throws(KeychainError) in _ = try notes.add(Self.item("a", "again")) } == -25299)
        #expect(try Self.secrets(Self.notes, Self.query("a"), keychain) == ["own"])
        #expect(try Self.secrets(Self.notes, Self.query("a", limit: .all), keychain) == ["own", "updated"])
        #expect(try notes.update(Self.query("a"), with: ItemUpdate(data: SharedSecret(copying: "new".utf8))) == 1)
        #expect(try Self.secrets(Self.notes, Self.query("a", limit: .all), keychain) == ["new", "updated"])
        // A deletion means the same item.
        #expect(try notes.delete(Self.query("a")) == 1)
        #expect(try Self.secrets(Self.command, Self.query("a", limit: .all), keychain) == ["updated"])
        #expect(try notes.delete(Self.query("a")) == 1)
        #expect(try Self.secrets(Self.notes, Self.query("a"), keychain).isEmpty)
    }

    @Test("A limit of one takes the own item of several, in any order of addition", arguments: Backend.allCases)
    func limit(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        _ = try keychain.service.by(Self.command).add(Self.item("1", "shared 1"))
        _ = try keychain.service.by(Self.notes).add(Self.item("2", "own 2"))
        _ = try keychain.service.by(Self.command).add(Self.item("3", "shared 3"))
        _ = try keychain.service.by(Self.notes).add(Self.item("4", "own 4"))
        #expect(try Self.secrets(Self.notes, Self.query(), keychain) == ["own 2"])
        #expect(
            try Self.secrets(Self.notes, Self.query(limit: .all), keychain) == [
                "own 2", "own 4", "shared 1", "shared 3",
            ])
        #expect(
            try Self.secrets(Self.notes, Self.query(limit: .atMost(3)), keychain) == ["own 2", "own 4", "shared 1"])
        #expect(
            try Self.secrets(Self.command, Self.query(limit: .all), keychain) == [
                "shared 1", "own 2", "shared 3", "own 4",
            ])
    }

    @Test(
        "A loose deletion takes every own item, and of the shared ones those of this executable",
        arguments: Backend.allCases)
    func loose(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let notes = keychain.service.by(Self.notes)
        _ = try keychain.service.by(Self.command).add(Self.item("1", "of the command"))
        _ = try notes.add(Self.item("2", "own"))
        _ = try notes.add(Self.item("3", "shared", group: "latchkey.shared"))
        // The own group may have items of another executable with this name.
        _ = try keychain.service.by(CallerIdentity(executable: "/opt/notes")).add(Self.item("4", "own"))
        let every = ItemQuery(.genericPassword, limit: .all)
        #expect(try notes.update(every, with: ItemUpdate(attributes: [.label: .string("mine")])) == 3)
        #expect(try notes.delete(every) == 3)
        #expect(try Self.secrets(Self.command, Self.query(limit: .all), keychain) == ["of the command"])
    }

    @Test(
        "A query that names an identity means the own one, before a shared one; a loose one means both",
        arguments: Backend.allCases, [true, false])
    func identities(_ backend: Backend, _ isNamed: Bool) throws {
        let keychain = try TestKeychain(backend)
        let notes = keychain.service.by(Self.notes)
        for (group, key) in [("latchkey.shared", UInt8(3)), ("program.notes", 4)] {
            let identity = IdentityAddition(
                certificate: ItemAddition(
                    .certificate,
                    attributes: [.issuer: .data([1]), .serialNumber: .data([2]), .publicKeyHash: .data([key])],
                    accessGroup: group),
                key: ItemAddition(
                    .key,
                    attributes: [
                        .applicationLabel: .data([key]), .isPrivate: .number(1),
                        .keyClass: .number(KeyHalf.privateKey.rawValue),
                    ], accessGroup: group))
            #expect(try notes.addIdentities([identity]) == 2)
        }
        func groups(_ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue] = [:]) throws -> [String] {
            let query = ItemQuery(itemClass, attributes: attributes, limit: .all)
            return try notes.copyMatching(query, returning: .attributes).records.map(\.accessGroup.name)
        }
        let query = ItemQuery(.identity, attributes: isNamed ? [.serialNumber: .data([2])] : [:])
        let both = ["program.notes", "latchkey.shared"]
        #expect(try groups(.identity) == both)
        let update = ItemUpdate(attributes: [.label: .string("changed")])
        #expect(try notes.update(query, with: update) == (isNamed ? 1 : 2))
        for itemClass in [ItemClass.certificate, .key] {
            #expect(try groups(itemClass, [.label: .string("changed")]) == (isNamed ? ["program.notes"] : both))
        }
        #expect(try notes.delete(query) == (isNamed ? 1 : 2))
        for itemClass in [ItemClass.certificate, .key] {
            #expect(try groups(itemClass) == (isNamed ? ["latchkey.shared"] : []))
        }
        guard isNamed else { return }
        #expect(try notes.delete(query) == 1)
        #expect(try groups(.key).isEmpty)
    }

    @Test("A locked own item is not replaced by a shared one", arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        var shared = Self.item("a", "shared")
        shared.protection = .always
        _ = try keychain.service.by(Self.command).add(shared)
        var own = Self.item("a", "own")
        own.protection = .whenUnlocked
        _ = try keychain.service.by(Self.notes).add(own)
        try keychain.service.administrator.lock(immediately: true)
        #expect(
            status { () throws(KeychainError) in _ = try Self.secrets(Self.notes, Self.query("a"), keychain) } == -25308
        )
        #expect(
            status { () throws(KeychainError) in
                let update = ItemUpdate(data: SharedSecret(copying: "x".utf8))
                _ = try keychain.service.by(Self.notes).update(Self.query("a"), with: update)
            } == -25308)
        #expect(try Self.secrets(Self.command, Self.query("a", limit: .one), keychain) == ["shared"])
    }

    @Test("A protected file of a program without an identity is of the shared group")
    func files() throws {
        let keychain = try TestKeychain(.ephemeral)
        let key = try keychain.service.by(Self.notes).createFileKey(.complete)
        #expect(key.record.binding.group == .shared)
    }
}
