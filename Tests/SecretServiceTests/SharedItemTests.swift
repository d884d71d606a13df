// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
@testable import SecretService
import Testing

/// One item for every program: an item that a client of the Secret Service stores is an item of SecItem and of
/// `security`, and the reverse.
@Suite("One item for every program")
struct SharedItemTests {
    /// A program of SecItem, and the user's `security` command.
    enum Program: String, CaseIterable, Sendable {
        case secItem, security

        var caller: CallerIdentity {
            switch self {
            case .secItem: CallerIdentity(executable: "/usr/bin/example")
            case .security: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
            }
        }
    }

    /// A client of the Secret Service, with the attributes that it stores and those that it searches for.
    struct Client: Sendable, CustomTestStringConvertible {
        let name: String
        let stored: [String: String]
        let searched: [String: String]
        /// The class and the attributes that SecItem sees.
        let itemClass: ItemClass
        let attributes: [ItemAttribute: AttributeValue]

        var testDescription: String { name }

        static let all = [
            Client(
                name: "secret-tool",
                stored: [
                    "service": "example.com", "username": "alice", "xdg:schema": "org.freedesktop.Secret.Generic",
                ],
                searched: ["service": "example.com", "username": "alice"], itemClass: .genericPassword,
                attributes: [.service: .string("example.com"), .account: .string("alice")]),
            Client(
                name: "Python keyring",
                stored: [
                    "application": "Python keyring library", "service": "example.com", "username": "alice",
                    "xdg:schema": "org.freedesktop.Secret.Generic",
                ],
                searched: ["service": "example.com", "username": "alice"], itemClass: .genericPassword,
                attributes: [.service: .string("example.com"), .account: .string("alice")]),
            Client(
                name: "git-credential-libsecret",
                stored: [
                    "protocol": "https", "server": "example.com", "user": "alice", "xdg:schema": "org.git.Password",
                ],
                searched: ["protocol": "https", "server": "example.com", "xdg:schema": "org.git.Password"],
                itemClass: .internetPassword,
                attributes: [
                    .server: .string("example.com"), .account: .string("alice"), .protocol: .string("htps"),
                ]),
            Client(
                name: "docker-credential-secretservice",
                stored: [
                    "docker_cli": "1", "label": "Docker Credentials", "server": "https://index.docker.io/v1/",
                    "username": "alice", "xdg:schema": "io.docker.Credentials",
                ],
                searched: ["docker_cli": "1", "server": "https://index.docker.io/v1/"], itemClass: .genericPassword,
                attributes: [.service: .string("https://index.docker.io/v1/"), .account: .string("alice")]),
            Client(
                name: "libsecret's network schema",
                stored: [
                    "domain": "d", "object": "/", "port": "8443", "protocol": "https", "server": "example.com",
                    "user": "alice", "xdg:schema": "org.gnome.keyring.NetworkPassword",
                ],
                searched: ["server": "example.com", "port": "8443"], itemClass: .internetPassword,
                attributes: [
                    .server: .string("example.com"), .account: .string("alice"), .protocol: .string("htps"),
                    .port: .number(8443), .path: .string("/"), .securityDomain: .string("d"),
                ]),
            Client(
                name: "Chromium",
                stored: ["application": "chromium", "xdg:schema": "chrome_libsecret_os_crypt_password_v2"],
                searched: ["application": "chromium"], itemClass: .genericPassword,
                attributes: [.service: .string(""), .account: .string("")]),
        ]
    }

    /// An item that a program has made, and the attributes in the searches of clients for it.
    struct Item: Sendable, CustomTestStringConvertible {
        let itemClass: ItemClass
        let attributes: [ItemAttribute: AttributeValue]
        let searches: [[String: String]]
        /// The attributes that a client stores for the same password.
        let stored: [String: String]
        /// The attributes that a client sees.
        let shown: [String: String]

        var testDescription: String { itemClass.constant }

        static let all = [
            Item(
                itemClass: .genericPassword,
                attributes: [.service: .string("example.com"), .account: .string("alice")],
                searches: [
                    ["service": "example.com"], ["service": "example.com", "account": "alice"],
                    ["service": "example.com", "username": "alice"], ["service": "example.com", "user": "alice"],
                    ["username": "alice", "xdg:schema": "org.freedesktop.Secret.Generic"],
                ],
                stored: ["application": "Python keyring library", "service": "example.com", "username": "alice"],
                shown: [
                    "service": "example.com", "account": "alice", "xdg:schema": "org.freedesktop.Secret.Generic",
                ]),
            Item(
                itemClass: .internetPassword,
                attributes: [
                    .server: .string("example.com"), .account: .string("alice"), .protocol: .string("htps"),
                    .port: .number(443),
                ],
                searches: [
                    ["server": "example.com"], ["server": "example.com", "protocol": "https", "user": "alice"],
                    ["server": "example.com", "port": "443"],
                    ["xdg:schema": "org.gnome.keyring.NetworkPassword", "user": "alice"],
                ],
                stored: ["server": "example.com", "protocol": "https", "port": "443", "user": "alice"],
                shown: [
                    "server": "example.com", "user": "alice", "protocol": "https", "port": "443",
                    "xdg:schema": "org.gnome.keyring.NetworkPassword",
                ]),
        ]
    }

    // MARK: Calls of programs

    private static func query(
        _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]
    ) -> ItemQuery {
        ItemQuery(itemClass, attributes: attributes, accessGroup: AccessGroup.shared.name)
    }

    /// The data of the item as a program finds it; nil if it does not.
    private static func data(_ query: ItemQuery, _ program: Program, _ keychain: TestKeychain) throws -> String? {
        do throws(KeychainError) {
            let found = try keychain.service.by(program.caller).copyMatching(query, returning: .data)
            return found.records.first?.secrets?.data.map { SecretValue($0, contentType: "").text }
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    private static func secret(_ text: String) -> SharedSecret { SharedSecret(copying: text.utf8) }

    private static func item(_ map: [String: String], _ text: String) throws -> NewSecretItem {
        NewSecretItem(
            label: "label", attributes: try SecretAttributes(testing: map),
            secret: SecretValue(secret(text), contentType: "text/x"))
    }

    // MARK: The table

    @Test(
        "SECS-6: a client's item is found, changed and deleted by every program, and its map stays",
        arguments: Client.all, Program.allCases)
    func fromClients(_ client: Client, _ program: Program) throws {
        for backend in Backend.allCases {
            let keychain = try TestKeychain(backend)
            let store = KeychainSecretStore(testing: keychain)
            let query = Self.query(client.itemClass, client.attributes)
            let item = try store.add(try Self.item(client.stored, "1"), replacing: true, to: .login).reference
            #expect(try Self.data(query, program, keychain) == "1")
            // The program changes it, and the client sees that.
            _ = try keychain.service.by(program.caller).update(query, with: ItemUpdate(data: Self.secret("2")))
            let search = try SecretAttributes(testing: client.searched)
            #expect(try store.search(search, in: nil) == [FoundItem(item, isLocked: false)])
            #expect(try store.secret(of: item).text == "2" && store.secret(of: item).contentType == "text/x")
            #expect(try store.item(item).attributes == SecretAttributes(testing: client.stored))
            // The client changes it, and the program sees that.
            let again = try store.add(try Self.item(client.stored, "3"), replacing: true, to: .login)
            #expect(again == AddedItem(item, isReplacement: true))
            #expect(try Self.data(query, program, keychain) == "3")
            // The program renames the account; the client finds it under the new name.
            let account: [ItemAttribute: AttributeValue] = [.account: .string("bob")]
            _ = try keychain.service.by(program.caller).update(query, with: ItemUpdate(attributes: account))
            let renamed = try #require(try store.item(item).attributes)
            #expect(["username", "user", "account"].contains { renamed[$0] == "bob" })
            // Deleted by the program, it is gone.
            _ = try keychain.service.by(program.caller).delete(
                Self.query(client.itemClass, client.attributes.merging(account) { $1 }))
            #expect(throws: SecretStoreError.notFound) { try store.item(item) }
            #expect(try store.items(in: .login).isEmpty)
        }
    }

    @Test("SECS-7: a client deletes an item that every program sees", arguments: Client.all, Program.allCases)
    func deletedByClients(_ client: Client, _ program: Program) throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        let item = try store.add(try Self.item(client.stored, "1"), replacing: true, to: .login).reference
        try store.deleteItem(item)
        #expect(try Self.data(Self.query(client.itemClass, client.attributes), program, keychain) == nil)
    }

    @Test(
        "SECS-8: a program's item in the shared group is found by the names that clients use, changed and deleted by them",
        arguments: Item.all, Program.allCases)
    func fromPrograms(_ item: Item, _ program: Program) throws {
        for backend in Backend.allCases {
            let keychain = try TestKeychain(backend)
            let store = KeychainSecretStore(testing: keychain)
            let record = try keychain.service.by(program.caller).add(
                ItemAddition(
                    item.itemClass, attributes: item.attributes, secrets: ItemSecrets(data: Self.secret("1")),
                    accessGroup: AccessGroup.shared.name))
            let reference = ItemReference(
                .login, try #require(SecretItemID(record.persistentReference.bytes)))
            for search in item.searches {
                let found = try store.search(SecretAttributes(testing: search), in: nil)
                #expect(found == [FoundItem(reference, isLocked: false)], "\(search)")
            }
            let shown = try store.item(reference)
            #expect(try shown.attributes == SecretAttributes(testing: item.shown))
            #expect(shown.label == "example.com")
            #expect(try store.secret(of: reference).text == "1")
            // The client sets the secret, as Seahorse does, and then stores the password again.
            let query = Self.query(item.itemClass, item.attributes)
            try store.update(
                reference, with: SecretItemUpdate(secret: SecretValue(Self.secret("2"), contentType: "text/plain")))
            #expect(try Self.data(query, program, keychain) == "2")
            let again = try store.add(try Self.item(item.stored, "3"), replacing: true, to: .login)
            #expect(again == AddedItem(reference, isReplacement: true))
            #expect(try Self.data(query, program, keychain) == "3")
            #expect(try store.item(reference).attributes == SecretAttributes(testing: item.stored))
            try store.deleteItem(reference)
            #expect(try Self.data(query, program, keychain) == nil)
        }
    }

    @Test("SECS-9: two clients' items for one account are two, and each finds its own", arguments: Program.allCases)
    func two(_ program: Program) throws {
        let keychain = try TestKeychain(.ephemeral)
        let store = KeychainSecretStore(testing: keychain)
        for client in Client.all.prefix(2) {
            _ = try store.add(try Self.item(client.stored, client.name), replacing: true, to: .login)
        }
        #expect(try store.items(in: .login).count == 2)
        let keyring = try SecretAttributes(testing: ["application": "Python keyring library"])
        let found = try store.search(keyring, in: nil)
        #expect(try found.map { try store.secret(of: $0.reference).text } == ["Python keyring"])
        var attributes = Client.all[0].attributes
        #expect(try Self.data(Self.query(.genericPassword, attributes), program, keychain) == "secret-tool")
        attributes[.account] = .string("alice (2)")
        #expect(try Self.data(Self.query(.genericPassword, attributes), program, keychain) == "Python keyring")
    }
}
