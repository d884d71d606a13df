// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

/// The meaning of the lookup attributes of an item to SecItem, and the other way round.
@Suite("Lookup attributes of items")
struct LookupItemTests {
    private static func map(_ pairs: [String: String]) throws -> LookupAttributes {
        try LookupAttributes(pairs.map { (name: $0.key, value: $0.value) })
    }

    private static func record(_ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]) -> ItemRecord {
        var record = ItemRecord(
            identifier: .random(), itemClass: itemClass, protection: .whenUnlocked, accessGroup: .shared, created: 1,
            modified: 1, attributes: attributes, addedBy: "/x")
        record.completeDefaults()
        return record
    }

    // MARK: From clients to SecItem

    @Test(
        "An item of a client of the Secret Service has the class and the attributes that SecItem finds",
        arguments: [
            // secret-tool store
            (
                ["service": "example.com", "account": "alice"], .genericPassword,
                [
                    .service: .string("example.com"), .account: .string("alice"),
                ]
            ),
            // Python's keyring
            (
                [
                    "application": "Python keyring library", "service": "example.com", "username": "alice",
                    "xdg:schema": "org.freedesktop.Secret.Generic",
                ], .genericPassword, [.service: .string("example.com"), .account: .string("alice")]
            ),
            // docker-credential-secretservice
            (
                [
                    "docker_cli": "1", "label": "Docker Credentials", "server": "https://index.docker.io/v1/",
                    "username": "alice", "xdg:schema": "io.docker.Credentials",
                ], .genericPassword, [.service: .string("https://index.docker.io/v1/"), .account: .string("alice")]
            ),
            // git-credential-libsecret
            (
                [
                    "protocol": "https", "server": "example.com", "user": "alice", "port": "8443", "object": "a.git",
                    "xdg:schema": "org.git.Password",
                ], .internetPassword,
                [
                    .server: .string("example.com"), .account: .string("alice"), .protocol: .string("htps"),
                    .port: .number(8443), .path: .string("a.git"), .securityDomain: .string(""),
                    .authenticationType: .string(""),
                ]
            ),
            // libsecret's network schema
            (
                [
                    "domain": "WORK", "server": "files", "protocol": "smb", "authtype": "ntlm",
                    "xdg:schema": "org.gnome.keyring.NetworkPassword",
                ], .internetPassword,
                [
                    .server: .string("files"), .account: .string(""), .protocol: .string("smb "), .port: .number(0),
                    .path: .string(""), .securityDomain: .string("WORK"), .authenticationType: .string("ntlm"),
                ]
            ),
            // Chromium
            (
                ["application": "chromium", "xdg:schema": "chrome_libsecret_os_crypt_password_v2"], .genericPassword,
                [.service: .string(""), .account: .string("")]
            ),
            ([:], .genericPassword, [.service: .string(""), .account: .string("")]),
            // The first of the names in use counts.
            (
                ["login": "4", "account": "3", "user": "2", "username": "1", "host": "h", "domain": "d"],
                .genericPassword, [.service: .string("d"), .account: .string("1")]
            ),
        ] as [([String: String], ItemClass, [ItemAttribute: AttributeValue])])
    func clients(_ pairs: [String: String], _ itemClass: ItemClass, _ expected: [ItemAttribute: AttributeValue]) throws
    {
        let map = try Self.map(pairs)
        #expect(map.itemClass == itemClass)
        #expect(map.itemAttributes(of: itemClass) == expected)
        var record = Self.record(itemClass, [:])
        record.setLookup(map)
        #expect(record.lookupAttributes == map && record.searchableLookup == map)
        for (attribute, value) in expected { #expect(record[attribute] == value) }
    }

    @Test("A protocol or port that SecItem cannot hold is left out there, and kept in the map")
    func unusable() throws {
        let map = try Self.map(["server": "s", "protocol": "gopher+tls", "port": "70000"])
        let attributes = map.itemAttributes(of: .internetPassword)
        #expect(attributes[.protocol] == .number(0) && attributes[.port] == .number(0))
    }

    // MARK: From SecItem to clients

    @Test(
        "An item of SecItem has the names of the Secret Service, and is found by the aliases of its account",
        arguments: [
            (
                .genericPassword, [.service: .string("s"), .account: .string("a")],
                ["account": "a", "service": "s", "xdg:schema": "org.freedesktop.Secret.Generic"],
                ["user": "a", "username": "a"]
            ),
            (.genericPassword, [:], ["xdg:schema": "org.freedesktop.Secret.Generic"], [:]),
            // A value that is no text, or too long for an attribute, is left out.
            (
                .genericPassword,
                [
                    .service: .data([0xFF]), .account: .data(Array("a".utf8)),
                ], ["account": "a", "xdg:schema": "org.freedesktop.Secret.Generic"], ["user": "a", "username": "a"]
            ),
            (
                .genericPassword,
                [
                    .service: .string("a\u{0}b"), .account: .string(String(repeating: "v", count: 16385)),
                ], ["xdg:schema": "org.freedesktop.Secret.Generic"], [:]
            ),
            (
                .internetPassword,
                [
                    .server: .string("example.com"), .account: .string("alice"), .protocol: .string("htps"),
                    .port: .number(443), .path: .string("/p"), .securityDomain: .string("realm"),
                    .authenticationType: .string("dflt"),
                ],
                [
                    "server": "example.com", "user": "alice", "protocol": "https", "port": "443", "object": "/p",
                    "domain": "realm", "authtype": "dflt", "xdg:schema": "org.gnome.keyring.NetworkPassword",
                ], [:]
            ),
            (
                .internetPassword, [.server: .string("s"), .protocol: .number(0x7373_6820)],
                ["server": "s", "protocol": "ssh", "xdg:schema": "org.gnome.keyring.NetworkPassword"], [:]
            ),
        ] as [(ItemClass, [ItemAttribute: AttributeValue], [String: String], [String: String])])
    func programs(
        _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue], _ shown: [String: String],
        _ aliases: [String: String]
    ) throws {
        let record = Self.record(itemClass, attributes)
        let (visible, searchable) = (try Self.map(shown), try Self.map(shown.merging(aliases) { one, _ in one }))
        #expect(record.lookupAttributes == visible)
        #expect(record.searchableLookup == searchable)
    }

    @Test("A tombstone and an item that is no password have no lookup attributes")
    func none() {
        let password = Self.record(.genericPassword, [.account: .string("a")])
        #expect(password.tombstone(at: 2).lookupAttributes == nil)
        #expect(password.tombstone(at: 2).searchableLookup == nil)
        for itemClass in [ItemClass.certificate, .key] {
            #expect(Self.record(itemClass, [:]).lookupAttributes == nil)
        }
    }

    // MARK: Changes by SecItem

    @Test(
        "After a change by SecItem the name in use has the new value, and the others are as they were",
        arguments: [
            (
                ["service": "s", "username": "alice", "note": "n"], [.account: .string("bob")],
                ["service": "s", "username": "bob", "note": "n"]
            ),
            (["user": "alice", "login": "x"], [.account: .string("bob")], ["user": "bob", "login": "x"]),
            (
                ["note": "n"], [.account: .string("bob"), .service: .string("s")],
                [
                    "account": "bob", "service": "s", "note": "n",
                ]
            ),
            // An account without a text has no name that could have it.
            (["user": "alice", "login": "x", "note": "n"], [.account: .string("")], ["note": "n"]),
            (["user": "alice"], [.account: .data([0xFF])], [:]),
            (["user": "alice"], [.label: .string("l"), .comment: .string("c")], ["user": "alice"]),
        ] as [([String: String], [ItemAttribute: AttributeValue], [String: String])])
    func following(
        _ before: [String: String], _ changes: [ItemAttribute: AttributeValue], _ after: [String: String]
    ) throws {
        let changed = try Self.map(before).following(changes, of: .genericPassword)
        let expected = try Self.map(after)
        #expect(changed == expected)
        let derived = changed.itemAttributes(of: .genericPassword)
        for attribute in [ItemAttribute.account, .service] {
            guard let text = changes[attribute]?.text, !text.isEmpty else { continue }
            #expect(derived[attribute] == .string(text))
        }
    }

    @Test("A change of an internet password is written as the Secret Service writes it")
    func followingNetwork() throws {
        let map = try Self.map(["server": "s", "protocol": "http", "user": "a"])
        let changed = try map.following(
            [.protocol: .string("htps"), .port: .number(8443), .account: .string("b")], of: .internetPassword)
        let expected = try Self.map(["server": "s", "protocol": "https", "user": "b", "port": "8443"])
        #expect(changed == expected)
    }

    @Test("A map that would exceed its limit refuses the change")
    func tooLarge() throws {
        let names = (0..<64).map { (name: "name \($0)", value: "") }
        let full = try LookupAttributes(names)
        #expect(throws: KeychainError.self) { _ = try full.following([.account: .string("a")], of: .genericPassword) }
    }

    @Test("An account gets a number", arguments: [("alice", "alice (2)"), ("", "(2)")])
    func numbers(_ account: String, _ expected: String) {
        let record = Self.record(.genericPassword, [.account: .string(account)])
        #expect(record.withAccountNumber(2)[.account] == .string(expected))
    }
}
