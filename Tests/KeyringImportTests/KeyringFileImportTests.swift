// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `latchkey import --from gnome-keyring --file`, with files that gnome-keyring has written.
@Suite("Importing files of gnome-keyring")
struct KeyringFileImportTests {
    private static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../GnomeKeyringFileTests/Vectors/\(name).keyring").standardized.path
    }

    /// Returns a keychain with a clock after the times of the files.
    private static func keychain(_ backend: Backend = .ephemeral) throws -> TestKeychain {
        let keychain = try TestKeychain(backend)
        keychain.clock.advance(by: 30 * 86_400)
        return keychain
    }

    @Test("Both formats give the same passwords, with attributes, schema, label and date", arguments: Backend.allCases)
    func formats(_ backend: Backend) throws {
        let keychain = try Self.keychain(backend)
        let plain = keychain.importKeyring("--file", Self.path("plain"), "--json")
        #expect(plain.status == 0 && plain.error.isEmpty, "\(plain)")
        #expect(try plain.report().counts == [5, 0, 0, 0])
        #expect(try plain.report().collections.map(\.label) == ["Plain"])
        let first = try #require(try keychain.passwords().first { $0.label == "First" })
        #expect(
            first.attributes == [
                "service": "example.com", "username": "alice", "xdg:schema": "org.freedesktop.Secret.Generic",
            ])
        #expect(first.secret == "s3cret" && first.created == 1_795_681_645)
        let schemas = Set(try keychain.passwords().compactMap { $0.attributes["xdg:schema"] })
        #expect(schemas.contains("org.gnome.keyring.NetworkPassword"))
        let encrypted = keychain.importKeyring("--file", Self.path("encrypted"), "--json", input: ["sesame \u{E9}"])
        #expect(encrypted.status == 0)
        #expect(try encrypted.report().counts == [0, 5, 0, 0])
        #expect(try keychain.passwords().count == 5)
    }

    @Test("Secrets with line feeds, unreadable for gnome-keyring, and numbers of old programs are imported")
    func old() throws {
        let keychain = try Self.keychain()
        #expect(try keychain.importKeyring("--file", Self.path("lines"), "--json").report().counts == [3, 0, 0, 0])
        #expect(try keychain.passwords().contains { $0.secret.hasPrefix("-----BEGIN KEY-----\nline=two\n") })
        let numbers = keychain.importKeyring("--file", Self.path("integers-plain"), "--json")
        #expect(try numbers.report().counts == [2, 0, 0, 0])
        let item = try #require(try keychain.passwords().first { $0.label == "Old network" })
        #expect(item.attributes["port"] == "8080" && item.created == 1_200_000_002)
    }

    @Test("The password comes from a file or a descriptor, and a wrong one is told from a damaged file")
    func passwords() throws {
        let keychain = try Self.keychain()
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/password"
        try Data("login-pw\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        let right = keychain.importKeyring("--file", Self.path("login"), "--password-file", file, "--json")
        #expect(right.status == 0, "\(right)")
        #expect(try right.report().counts == [0, 0, 0, 0])
        let wrong = keychain.importKeyring("--file", Self.path("encrypted"), "--password-file", file)
        #expect(wrong.status == 51 && wrong.error.contains("the password does not open it"), "\(wrong)")
        let damaged = "\(directory.path)/damaged.keyring"
        try Data("[keyring]\nnonsense\n".utf8).write(to: URL(filePath: damaged))
        #expect(keychain.importKeyring("--file", damaged).status == 93)
        try Data("hello\n".utf8).write(to: URL(filePath: damaged))
        let other = keychain.importKeyring("--file", damaged)
        #expect(other.status == 93 && other.error.contains("not a keyring of gnome-keyring"))
        #expect(keychain.importKeyring("--file", "\(directory.path)/missing").status == 220)
        #expect(try keychain.passwords().isEmpty)
    }

    @Test("Options that exclude each other are refused")
    func options() throws {
        let keychain = try Self.keychain()
        #expect(keychain.importKeyring("--file", "a", "--bus", "unix:path=/b").status == 2)
        #expect(keychain.importKeyring("--file", "a", from: "kwallet").error.contains("files of KWallet are not read"))
        #expect(keychain.importKeyring("--password-file", "a").status == 2)
        #expect(keychain.importKeyring("--unlock-timeout", "0").status == 2)
        #expect(keychain.importKeyring(from: "other").status == 2)
        let examples = HelpExamples(keychain.importKeyring("--help").output)
        #expect(!examples.lines.isEmpty && examples.broken.isEmpty, "\(examples.broken)")
    }

    @Test("A dry run shows each item with its state in a table, and changes nothing")
    func dryRun() throws {
        let keychain = try Self.keychain()
        #expect(keychain.importKeyring("--file", Self.path("lines")).status == 0)
        let before = try keychain.passwords()
        let run = keychain.importKeyring("--file", Self.path("plain"), "--dry-run")
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "Nothing was changed. An import would do this:")
        let header = lines.dropFirst().first?.split(separator: " ").map(String.init)
        #expect(header == ["STATE", "COLLECTION", "NAME", "LABEL"])
        let row = lines.first { $0.contains("example.com/alice") }
        #expect(row?.split(separator: " ").map(String.init) == ["new", "Plain", "example.com/alice", "First"])
        #expect(run.output.contains("new:        5\n") && run.output.contains("left out:   0\n"))
        #expect(try keychain.passwords() == before)
        let report = try keychain.importKeyring("--file", Self.path("plain"), "-n", "--json").report()
        #expect(report.dryRun && report.counts == [5, 0, 0, 0] && report.items.count == 5)
        #expect(try keychain.passwords() == before)
        #expect(!run.output.contains("s3cret"))
    }

    @Test("A locked keychain is not read as an empty one")
    func lockedKeychain() throws {
        let keychain = try Self.keychain(.onDisk)
        #expect(keychain.importKeyring("--file", Self.path("plain")).status == 0)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "correct horse battery".utf8)) { _, _ in }
        let locked = try keychain.reopened()
        let refused = locked.importKeyring("--file", Self.path("plain"), "--json")
        #expect(refused.status == 36, "\(refused)")
        #expect(try refused.report().counts == [0, 0, 0, 0])
    }
}
