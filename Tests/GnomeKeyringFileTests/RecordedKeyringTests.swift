// SPDX-License-Identifier: Apache-2.0

@testable import GnomeKeyringFile
import SecretMemory
import Testing

/// Files that gnome-keyring has written.
@Suite("Recorded keyrings of gnome-keyring")
struct RecordedKeyringTests {
    private static let made: UInt64 = 1_795_681_645

    private static func item(
        _ identifier: String, _ label: String, _ secret: [UInt8], kind: UInt32 = 0, _ attributes: [String: String]
    ) -> GnomeKeyringItem {
        item(identifier, label, secret, kind: kind, attributes.mapValues { .text($0) }, (made, made))
    }

    private static func item(
        _ identifier: String, _ label: String, _ secret: [UInt8], kind: UInt32 = 0,
        _ attributes: [String: GnomeKeyringItem.Attribute], _ times: (UInt64, UInt64)
    ) -> GnomeKeyringItem {
        GnomeKeyringItem(
            identifier: identifier, label: label, secret: SharedSecret(copying: secret), attributes: attributes,
            created: times.0, modified: times.1, kind: kind)
    }

    /// The same items were stored in the encrypted and the plain keyring, in this order.
    private static let stored = [
        item("1", "First", Array("s3cret".utf8), ["service": "example.com", "username": "alice"]),
        item("2", "Non-text", [0, 255, 10, 128, 0], ["xdg:schema": "org.example.Schema", "key": "v"]),
        item("3", "", [], [:]),
        item(
            "4", "Network", Array("pass=word\twith \\ and \\n".utf8), kind: 1,
            ["user": "bob", "server": "imap.example.com", "port": "993", "protocol": "imap"]),
        item(
            "5", "Label with\nnewline", Array("  spaces and \u{E9}  ".utf8), kind: 2,
            ["a\nb": " leading", "unicode \u{2713}": "\u{FC}\\"]),
    ]

    @Test(
        "Both formats have labels, secrets, attributes, times and schemas of every item as they were stored",
        arguments: [(RecordedKeyring.encrypted, "B\u{FC}ro"), (.plain, "Plain")])
    func both(_ file: RecordedKeyring, _ label: String) throws {
        let keyring = try file.opened()
        #expect(keyring.label == label && keyring.created == Self.made && keyring.modified == Self.made)
        #expect(keyring.items.sorted { $0.identifier < $1.identifier } == Self.stored)
        let schemas = Dictionary(uniqueKeysWithValues: keyring.items.map { ($0.identifier, $0.schema) })
        #expect(
            schemas == [
                "1": "org.freedesktop.Secret.Generic", "2": "org.example.Schema",
                "3": "org.freedesktop.Secret.Generic", "4": "org.gnome.keyring.NetworkPassword",
                "5": "org.gnome.keyring.Note",
            ])
    }

    @Test("Numbers of old programs are read, and their access lists skipped", arguments: [true, false])
    func numbers(_ isEncrypted: Bool) throws {
        let keyring = try (isEncrypted ? RecordedKeyring.integersEncrypted : .integersPlain).opened()
        #expect(keyring.label == "Old")
        #expect(keyring.created == 1_200_000_000 && keyring.modified == 1_200_000_001)
        let old = keyring.items.first { $0.identifier == "7" }
        #expect(
            old
                == Self.item(
                    "7", "Old network", Array("old".utf8), kind: 1,
                    ["port": .number(8080), "server": .text("example.com")], (1_200_000_002, 1_200_000_003)))
        #expect(old?.attributes["port"]?.text == "8080")
        #expect(keyring.items.count == (isEncrypted ? 3 : 2))
    }

    @Test("A secret with line feeds, unreadable for gnome-keyring, is read, and so are the items after it")
    func lines() throws {
        let keyring = try RecordedKeyring.lines.opened()
        let key = """
            -----BEGIN KEY-----
            line=two

            [not a group]
            # not a comment
            mtime=text
            -----END KEY-----

            """
        let expected = [("2", key), ("3", "after"), ("1", "before")]
        #expect(keyring.items.map(\.identifier) == expected.map(\.0))
        #expect(keyring.items.map(\.secret) == expected.map { SharedSecret(copying: $0.1.utf8) })
        #expect(keyring.items.map { $0.attributes["n"]?.text } == ["1", "2", "0"])
    }

    @Test("A keyring without items is read")
    func empty() throws {
        let keyring = try RecordedKeyring.login.opened()
        #expect(keyring.label == "Login" && keyring.items.isEmpty)
        #expect(keyring.created == 1_795_681_644 && keyring.modified == 1_795_681_644)
    }

    @Test("Without its password or with another one, an encrypted keyring is refused with the reason")
    func passwords() throws {
        let file = try KeyringFile(SharedSecret(copying: RecordedKeyring.encrypted.bytes()))
        #expect(file.needsPassword)
        #expect(throws: GnomeKeyringError.passwordNeeded) { try file.open(with: nil) }
        for wrong in ["", "sesame e", "sesame e\u{301}"] {
            #expect(throws: GnomeKeyringError.wrongPassword) {
                try file.open(with: SharedSecret(copying: wrong.utf8))
            }
        }
        #expect(try !KeyringFile(SharedSecret(copying: RecordedKeyring.plain.bytes())).needsPassword)
    }

    @Test("No beginning of a recorded keyring is read as the whole one", arguments: RecordedKeyring.allCases)
    func beginnings(_ file: RecordedKeyring) throws {
        let (bytes, whole) = (try file.bytes(), try file.opened())
        let password = SharedSecret(copying: (file.password ?? "").utf8)
        for count in stride(from: 0, to: bytes.count - 1, by: file.password == nil ? 1 : 7) {
            let start = SharedSecret(copying: bytes.prefix(count))
            let keyring = try? KeyringFile(start).open(with: password)
            #expect(keyring != whole, "\(count)")
            if file.password != nil { #expect(keyring == nil, "\(count)") }
        }
    }
}
