// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import LatchkeyService
import LinuxSystem
import SystemBus
import Testing

/// `latchkey import --from …` over a bus, from a service that the test writes.
@Suite("Importing a Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct SecretServiceImportTests {
    private static let schema = "org.freedesktop.Secret.Generic"
    private static let work = FakeSecretService.Item(
        label: "w", attributes: ["a": "1", "xdg:schema": "s"], contentType: "text/x")

    private static func items(_ count: Int) -> [FakeSecretService.Item] {
        (0..<count).map { number in
            FakeSecretService.Item(
                label: "Item \(number)", attributes: ["service": "example.com", "username": "user\(number)"],
                secret: "secret \(number)")
        }
    }

    @Test("Every collection is imported, with attributes, label, content type and creation date")
    func everything() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let image = FakeSecretService.Item(
            label: "Image", attributes: ["file": "a.png", "": ""], secret: "", contentType: "image/png", created: 0)
        let service = try FakeSecretService(
            on: bus,
            [
                .init(label: "Login", items: Self.items(2)),
                .init(label: "Work", items: [Self.work]),
                .init(label: "Refused", items: [image]),
            ])
        defer { service.end() }
        let run = keychain.importKeyring("--bus", bus.address, "--json")
        // A name without text cannot be stored.
        #expect(run.status == 206, "\(run)")
        let report = try run.report()
        #expect(report.counts == [3, 0, 0, 1] && report.collections.map(\.label) == ["Login", "Work", "Refused"])
        #expect(report.collections.allSatisfy { $0.accessGroup == "latchkey.shared" && $0.reason == nil })
        #expect(report.items.map(\.state).sorted() == ["left out", "new", "new", "new"])
        let stored = try keychain.passwords()
        #expect(
            stored.contains(
                StoredPassword(
                    attributes: ["service": "example.com", "username": "user1", "xdg:schema": Self.schema],
                    secret: "secret 1", label: "Item 1", contentType: "text/plain", created: 1_200_000_000)))
        #expect(stored.contains { $0.attributes == ["a": "1", "xdg:schema": "s"] && $0.contentType == "text/x" })
        #expect(stored.count == 3)
        // The secrets were encrypted on the bus, and nothing was changed in the service.
        #expect(Set(service.calls).isSubset(of: ["Ping", "GetAll", "OpenSession", "ReadAlias", "GetSecrets"]))
    }

    @Test("The same import again passes over everything; a changed secret is different, and nothing is replaced")
    func conflicts() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(on: bus, [.init(items: Self.items(3))])
        defer { service.end() }
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [3, 0, 0, 0])
        let before = try keychain.passwords()
        service.change { collections in
            collections[0].items[1].secret = "changed"
            // A label is no difference.
            collections[0].items[2].label = "Other"
            collections[0].items.append(.init(label: "New", attributes: ["new": "1"]))
        }
        let dry = keychain.importKeyring("--bus", bus.address, "--dry-run", "--json")
        #expect(try dry.report().counts == [1, 2, 1, 0])
        #expect(try keychain.passwords() == before)
        let run = keychain.importKeyring("--bus", bus.address)
        #expect(run.status == 0)
        #expect(run.output.contains("added:      1\nequal:      2\ndifferent:  1, kept"), "\(run)")
        #expect(run.output.contains("example.com/user1 (Login)"))
        let after = try keychain.passwords()
        #expect(after.count == 4 && after.isSuperset(of: before))
    }

    @Test("A secret that is too large for the keychain is left out, and a dry run says so")
    func largeSecret() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let large = FakeSecretService.Item(
            label: "Large", attributes: ["a": "2"],
            secret: String(repeating: "s", count: ItemLimits.maxSecretSize + 1))
        let service = try FakeSecretService(on: bus, [.init(items: [Self.work, large])])
        defer { service.end() }
        let dryRun = keychain.importKeyring("--bus", bus.address, "--json", "--dry-run")
        #expect(try keychain.passwords().isEmpty)
        for run in [dryRun, keychain.importKeyring("--bus", bus.address, "--json")] {
            let report = try run.report()
            #expect(report.counts == [1, 0, 0, 1] && run.status == 42, "\(run)")
            let item = try #require(report.items.first { $0.state == "left out" })
            #expect(item.label == "Large" && item.reason?.contains("at most 4194304") == true)
        }
        #expect(try keychain.passwords().map(\.label) == ["w"])
    }

    @Test("An item without a schema, and the same item with the generic one, are one item")
    func schemas() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(on: bus, [.init(items: [.init(attributes: ["a": "1"])])])
        defer { service.end() }
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [1, 0, 0, 0])
        service.change { $0[0].items[0].attributes["xdg:schema"] = "org.freedesktop.Secret.Generic" }
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [0, 1, 0, 0])
    }

    @Test("Items that differ only in their secrets are all imported, and none twice")
    func sameAttributes() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let same = (0..<3).map { FakeSecretService.Item(attributes: ["a": "1"], secret: "\($0)") }
        let service = try FakeSecretService(
            on: bus, [.init(label: "Login", items: same), .init(label: "Work", items: [same[0]])])
        defer { service.end() }
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [3, 1, 0, 0])
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [0, 4, 0, 0])
        #expect(Set(try keychain.passwords().map(\.secret)) == ["0", "1", "2"])
    }

    @Test("A locked collection is unlocked by the prompt of the service")
    func unlocked() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(
            on: bus, [.init(isLocked: true, items: Self.items(1))], prompt: .unlocks, ownName: "org.kde.kwalletd6")
        defer { service.end() }
        let run = keychain.importKeyring("--bus", bus.address, "--json", from: "kwallet")
        #expect(run.status == 0 && run.error.contains("'Login' is locked; KWallet asks"), "\(run)")
        #expect(try run.report().counts == [1, 0, 0, 0])
    }

    @Test("A collection that stays locked is named, and the others are imported", arguments: [true, false])
    func locked(_ isDismissed: Bool) throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(
            on: bus, [.init(label: "Work", isLocked: true, items: Self.items(2)), .init(items: Self.items(1))],
            prompt: isDismissed ? .dismisses : .waits)
        defer { service.end() }
        let run = keychain.importKeyring("--bus", bus.address, "--json", "--unlock-timeout", "1")
        #expect(run.status == 36, "\(run)")
        let report = try run.report()
        #expect(report.counts == [1, 0, 0, 0] && report.collections.first?.label == "Work")
        let reason = report.collections.first?.reason ?? ""
        #expect(reason.contains(isDismissed ? "dismissed" : "no answer within 1 seconds"), "\(reason)")
        #expect(service.calls.contains("Dismiss") != isDismissed)
    }

    @Test(
        "A keyring that is not the named one is refused with its program, and none of its secrets is read",
        arguments: [
            ("kwallet", nil, "hint: start kwalletd"), ("kwallet", "org.gnome.keyring", "--from gnome-keyring"),
            ("gnome-keyring", "org.kde.kwalletd5", "--from kwallet"),
        ] as [(String, BusName?, String)])
    func otherKeyring(keyring: String, ownName: BusName?, hint: String) throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(on: bus, [.init(items: Self.items(1))], ownName: ownName)
        defer { service.end() }
        let run = keychain.importKeyring("--bus", bus.address, from: keyring)
        #expect(run.status == 206 && run.output.isEmpty, "\(run)")
        let name = keyring == "kwallet" ? "KWallet" : "gnome-keyring"
        #expect(run.error.contains("expected \(name) as the Secret Service of the bus, found /"), "\(run)")
        #expect(run.error.contains(hint), "\(run)")
        #expect(try keychain.passwords().isEmpty && !service.calls.contains("GetSecrets"))
    }

    @Test("KWallet is known by its name on the bus, in each of its versions")
    func kwallet() throws {
        for name in ["org.kde.kwalletd", "org.kde.kwalletd5", "org.kde.secretservicecompat"] as [BusName] {
            let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
            let service = try FakeSecretService(on: bus, [.init(items: Self.items(1))], ownName: name)
            defer { service.end() }
            let run = keychain.importKeyring("--bus", bus.address, "--json", from: "kwallet")
            #expect(run.status == 0, "\(run)")
            #expect(try run.report().counts == [1, 0, 0, 0])
        }
    }

    @Test("Without a service, the import fails and names a program to start")
    func absent() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let run = keychain.importKeyring("--bus", bus.address)
        #expect(run.status == 53 && run.output.isEmpty, "\(run)")
        #expect(run.error.contains("no program on the bus is a Secret Service"))
        #expect(run.error.contains("hint: start gnome-keyring-daemon"))
        let unreachable = keychain.importKeyring("--bus", "unix:path=/nonexistent/bus")
        #expect(unreachable.status == 53, "\(unreachable)")
    }
}
