// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import KeychainModel
import KeychainTesting
import Logging
@testable import SecretService
import SystemBus
import Testing

/// The service on a real bus, with a client of our own.
@Suite("Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct SecretServiceTests {
    @Test("An item is stored, found by any subset of its attributes, read and deleted", arguments: [false, true])
    func item(isEncrypted: Bool) throws {
        let world = try SecretWorld()
        let client = try world.client()
        let session = isEncrypted ? try client.openEncrypted() : try client.openPlain()
        let path = try client.create(
            "s3cret\0é", ["service": "example.com", "username": "alice"], type: "application/octet-stream", session)
        #expect(path.text.hasPrefix("/org/freedesktop/secrets/collection/login/"))
        let subsets: [[String: String]] = [
            [:], ["service": "example.com"], ["username": "alice", "service": "example.com"],
        ]
        for subset in subsets {
            #expect(try client.search(subset).unlocked == [path])
        }
        #expect(try client.search(["service": "example.org"]).unlocked.isEmpty)
        // The type of the content is kept.
        let found = try client.secret(of: path, session)
        #expect(found.text == "s3cret\0é" && found.type == "application/octet-stream")
        let attributes: [String: String] = try client.property("Attributes", of: path, "Item")
        #expect(attributes["xdg:schema"] == "org.freedesktop.Secret.Generic" && attributes["username"] == "alice")
        var deleted = try client.call(path, "Item", "Delete", returning: [.objectPath])
        #expect(try deleted.next(ObjectPath.self) == "/")
        #expect(try client.search([:]).unlocked.isEmpty)
        #expect(errorName { _ = try client.secret(of: path, session) } == "UnknownMethod")
    }

    @Test("Replacing changes only an item with exactly the same attributes")
    func replacing() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let session = try client.openPlain()
        let first = try client.create("1", ["a": "1", "b": "2"], session)
        let second = try client.create("2", ["a": "1"], replacing: true, session)
        #expect(first != second)
        #expect(try client.create("3", ["a": "1"], replacing: true, session) == second)
        #expect(try client.create("4", ["a": "1"], replacing: false, session) != second)
        #expect(try client.secret(of: first, session).text == "1")
        #expect(try client.secret(of: second, session).text == "3")
    }

    @Test("Aliases name collections; an unknown one is /, and only the default can be set")
    func aliases() throws {
        let world = try SecretWorld()
        let client = try world.client()
        func read(_ name: String) throws -> ObjectPath {
            var answer = try client.call(
                SecretClient.service, "Service", "ReadAlias", [.string(name)], returning: [.objectPath])
            return try answer.next()
        }
        #expect(try read("default") == SecretClient.login && read("login") == SecretClient.login)
        #expect(try read("session") == "/org/freedesktop/secrets/collection/session")
        #expect(try read("") == "/" && read("other") == "/")
        #expect(
            errorName {
                try client.call(
                    SecretClient.service, "Service", "SetAlias", [.string("other"), .objectPath(SecretClient.login)])
            } == "NotSupported")
        #expect(try client.text("Label", of: SecretClient.alias, "Collection") == "Login")
        let items: [ObjectPath] = try client.property("Items", of: SecretClient.alias, "Collection")
        #expect(items.isEmpty)
    }

    @Test("A collection is created, renamed and deleted, and its path has its name in a reversible form")
    func collections() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let properties = ["org.freedesktop.Secret.Collection.Label": BusVariant("Büro 1")]
        var answer = try client.call(
            SecretClient.service, "Service", "CreateCollection", [properties.busValue, .string("")],
            returning: [.objectPath, .objectPath])
        let path = try answer.next(ObjectPath.self)
        #expect(path.text == "/org/freedesktop/secrets/collection/B_c3_bcro_201")
        #expect(try client.text("Label", of: path, "Collection") == "Büro 1")
        try client.bus.setProperty(
            "Label", of: "org.freedesktop.Secret.Collection", at: path, SecretClient.name, to: "Office")
        #expect(try client.text("Label", of: path, "Collection") == "Office")
        let all: [ObjectPath] = try client.property("Collections", of: SecretClient.service, "Service")
        #expect(all.contains(path) && all.contains(SecretClient.login))
        try client.call(path, "Collection", "Delete", returning: [.objectPath])
        #expect(errorName { _ = try client.text("Label", of: path, "Collection") } == "UnknownMethod")
        #expect(
            errorName { try client.call(SecretClient.login, "Collection", "Delete", returning: [.objectPath]) }
                == "NotSupported")
    }

    @Test("Sessions belong to their connection, and end with it")
    func sessions() throws {
        let world = try SecretWorld()
        let (client, other) = (try world.client(), try world.client())
        let session = try client.openPlain()
        let item = try client.create("1", ["a": "1"], session)
        #expect(errorName { _ = try other.secret(of: item, session) } == "NoSession")
        #expect(errorName { try other.call(session.path, "Session", "Close") } == "AccessDenied")
        try client.call(session.path, "Session", "Close")
        #expect(errorName { _ = try client.secret(of: item, session) } == "NoSession")
        #expect(errorName { try client.call(session.path, "Session", "Close") } == "UnknownMethod")
        let last = try client.openPlain()
        client.bus.close()
        #expect(eventually { errorName { try other.call(last.path, "Session", "Close") } == "UnknownMethod" })
    }

    @Test("Changes are announced by signals")
    func signals() throws {
        let world = try SecretWorld()
        let (client, observer) = (try world.client(), try world.client())
        let (created, deleted) = (EventCount(), EventCount())
        func subscribe(_ member: String, _ count: EventCount) throws -> BusRegistration {
            try observer.bus.subscribe(
                to: SignalRule(
                    from: SecretClient.name, "org.freedesktop.Secret.Collection", member,
                    path: .object(SecretClient.login), types: [.objectPath])
            ) { _ in count.increase() }
        }
        let subscriptions = [try subscribe("ItemCreated", created), try subscribe("ItemDeleted", deleted)]
        let item = try client.create("1", ["a": "1"], try client.openPlain())
        try client.call(item, "Item", "Delete", returning: [.objectPath])
        #expect(eventually { created.value == 1 && deleted.value == 1 })
        withExtendedLifetime(subscriptions) {}
    }

    @Test("No property is invalidated, because libsecret ends its program if it has no list of items")
    func noInvalidatedProperties() throws {
        let world = try SecretWorld()
        let (client, observer) = (try world.client(), try world.client())
        let (announced, invalidated) = (EventCount(), EventCount())
        let subscription = try observer.bus.subscribe(
            to: SignalRule(
                from: SecretClient.name, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                path: .below(SecretClient.service), types: [.string, .properties, .array(.string)])
        ) { signal in
            if signal.content.remaining.last != BusValue.array(of: .string, []) { invalidated.increase() }
            announced.increase()
        }
        let item = try client.create("1", ["a": "1"], try client.openPlain())
        try client.call(item, "Item", "Delete", returning: [.objectPath])
        _ = try world.store.createCollection(label: "Of another program")
        #expect(eventually { announced.value > 0 })
        #expect(invalidated.value == 0)
        withExtendedLifetime(subscription) {}
    }

    @Test("Collections of clients and of other programs are announced once")
    func collectionSignals() throws {
        let world = try SecretWorld()
        let (client, observer) = (try world.client(), try world.client())
        let (created, deleted) = (EventCount(), EventCount())
        func subscribe(_ member: String, _ count: EventCount) throws -> BusRegistration {
            try observer.bus.subscribe(
                to: SignalRule(
                    from: SecretClient.name, "org.freedesktop.Secret.Service", member,
                    path: .object(SecretClient.service), types: [.objectPath])
            ) { _ in count.increase() }
        }
        let subscriptions = [try subscribe("CollectionCreated", created), try subscribe("CollectionDeleted", deleted)]
        let other = try world.store.createCollection(label: "Of another program")
        #expect(eventually { created.value == 1 })
        let properties = ["org.freedesktop.Secret.Collection.Label": BusVariant("Work")]
        var answer = try client.call(
            SecretClient.service, "Service", "CreateCollection", [properties.busValue, .string("")],
            returning: [.objectPath, .objectPath])
        let work = try answer.next(ObjectPath.self)
        #expect(eventually { created.value == 2 })
        try client.call(work, "Collection", "Delete", returning: [.objectPath])
        #expect(eventually { deleted.value == 1 })
        try world.store.deleteCollection(other.name)
        #expect(eventually { deleted.value == 2 } && created.value == 2)
        withExtendedLifetime(subscriptions) {}
    }

    @Test(
        "Introspection is well-formed XML that names every method",
        arguments: [
            "/org/freedesktop/secrets", "/org/freedesktop/secrets/collection",
            "/org/freedesktop/secrets/collection/login",
            "/org/freedesktop/secrets/aliases/default", "/org/freedesktop/portal/desktop", "/org/freedesktop",
        ])
    func introspection(_ path: String) throws {
        let world = try SecretWorld()
        let client = try world.client()
        var answer = try client.call(
            try ObjectPath(validating: path), "org.freedesktop.DBus.Introspectable", "Introspect", returning: [.string])
        let text = try answer.next(String.self)
        let parser = XMLParser(data: Data(text.utf8))
        #expect(parser.parse(), "\(text)")
        if path == "/org/freedesktop/secrets" {
            for method in SecretInterfaces.service.methods { #expect(text.contains("\"\(method.name)\"")) }
        }
    }

    @Test("The bus name is taken once; a second service says so, or takes it")
    func names() throws {
        let world = try SecretWorld()
        let connection = try BusConnection(to: .custom(world.bus.address), limits: SecretLimits.bus)
        let lost = EventCount()
        func service() -> SecretServer {
            SecretServer(
                on: connection, store: MemorySecretStore(.login, label: "Login"), askers: [],
                log: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        let second = service()
        #expect(throws: BusError.nameTaken("org.freedesktop.secrets")) {
            try second.start(replacing: false) { lost.increase() }
        }
        second.stop()
        let third = service()
        try third.start(replacing: true) { lost.increase() }
        let client = try world.client()
        #expect(try client.search([:]).unlocked.isEmpty)
        third.stop()
    }
}
