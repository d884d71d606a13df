// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The import from gnome-keyring itself.
@Suite(
    "Importing gnome-keyring", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"),
    .enabled(if: GnomeKeyringDaemon.isInstalled, "gnome-keyring-daemon is not installed"))
struct GnomeKeyringTests {
    @Test("Items of two collections arrive, a locked one is named, and the files of the same daemon are equal")
    func daemon() throws {
        let (daemon, keychain) = (try GnomeKeyringDaemon(), try TestKeychain(.ephemeral))
        // After the times of the daemon, so that creation dates are kept.
        keychain.clock.advance(by: 100 * 365 * 86_400)
        try daemon.store(
            Array("s3cret".utf8), label: "Mail",
            ["service": "example.com", "username": "alice", "xdg:schema": "org.example.Mail"])
        try daemon.store(Array("caf\u{E9}\n\n".utf8), label: "\u{DC}bung", ["a": "", "\u{2713}": "x y"])
        try daemon.store(Array("one".utf8), label: "", ["same": "1"])
        try daemon.store(Array("two".utf8), label: "", ["same": "1"])
        let work = try daemon.createCollection("Work", password: "work-pw")
        try daemon.store(Array("w".utf8), label: "At work", ["b": "2"], in: work)
        try daemon.lock(work)

        let wallet = keychain.importKeyring("--bus", daemon.bus.address, from: "kwallet")
        #expect(wallet.status == 206 && wallet.error.contains("found \(GnomeKeyringDaemon.program)\n"), "\(wallet)")

        let first = keychain.importKeyring("--bus", daemon.bus.address, "--json")
        #expect(first.status == 36, "\(first)")
        let report = try first.report()
        #expect(report.counts == [4, 0, 0, 0], "\(first)")
        #expect(report.collections.contains { $0.label == "Work" && $0.reason?.contains("dismissed") == true })
        let stored = try keychain.passwords()
        let mail = try #require(stored.first { $0.label == "Mail" })
        #expect(mail.secret == "s3cret" && mail.created > 1_600_000_000)
        #expect(
            mail.attributes == ["service": "example.com", "username": "alice", "xdg:schema": "org.example.Mail"])
        // With the schema that gnome-keyring shows after its next start.
        let other = try #require(stored.first { $0.label == "\u{DC}bung" })
        #expect(other.attributes == ["a": "", "\u{2713}": "x y", "xdg:schema": "org.freedesktop.Secret.Generic"])
        #expect(Set(stored.map(\.secret)) == ["s3cret", "caf\u{E9}\n\n", "one", "two"])

        try daemon.unlock(work, password: "work-pw")
        let second = keychain.importKeyring("--bus", daemon.bus.address, "--json")
        #expect(second.status == 0, "\(second)")
        #expect(try second.report().counts == [1, 4, 0, 0])

        let login = keychain.importKeyring(
            "--file", daemon.file("login"), "--json", input: [GnomeKeyringDaemon.password])
        #expect(login.status == 0, "\(login)")
        #expect(try login.report().counts == [0, 4, 0, 0])
        let file = keychain.importKeyring("--file", daemon.file("Work"), "--json", input: ["work-pw"])
        #expect(try file.report().counts == [0, 1, 0, 0], "\(file)")
        #expect(try keychain.passwords().count == 5)
    }
}
