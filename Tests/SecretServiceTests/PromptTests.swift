// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import SecretMemory
@testable import SecretService
import SecretTransfer
import Synchronization
import SystemBus
import Testing

/// A locked service, and the prompts that unlock it.
@Suite("Prompts of the Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct PromptTests {
    /// A locked world with one item, and its path.
    private static func locked(_ person: TestPerson) throws -> (SecretWorld, SecretClient, ObjectPath) {
        let world = try SecretWorld(passcode: "1234", person: person)
        let client = try world.client()
        let item = try client.create("s3cret", ["a": "1"], label: "mail", try client.openPlain())
        var answer = try client.call(
            SecretClient.service, "Service", "Lock", [[SecretClient.login].busValue], returning: [.paths, .objectPath])
        #expect(try answer.next([ObjectPath].self) == [SecretClient.login])
        return (world, client, item)
    }

    private static func unlock(_ client: SecretClient, _ paths: [ObjectPath]) throws -> ([ObjectPath], ObjectPath) {
        var answer = try client.call(
            SecretClient.service, "Service", "Unlock", [paths.busValue], returning: [.paths, .objectPath])
        return (try answer.next(), try answer.next())
    }

    @Test("SECS-17: a locked item is found as locked, with its attributes, and cannot be read or written")
    func locked() throws {
        let (world, client, item) = try Self.locked(TestPerson())
        let session = try client.openPlain()
        #expect(try client.search(["a": "1"]).locked == [item])
        #expect(try client.text("Label", of: item, "Item") == "mail")
        let attributes: [String: String] = try client.property("Attributes", of: item, "Item")
        #expect(attributes == ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"])
        let isLocked: Bool = try client.property("Locked", of: SecretClient.login, "Collection")
        #expect(isLocked)
        #expect(errorName { _ = try client.secret(of: item, session) } == "IsLocked")
        #expect(errorName { _ = try client.create("x", [:], session) } == "IsLocked")
        #expect(errorName { try client.call(item, "Item", "Delete", returning: [.objectPath]) } == "IsLocked")
        var secrets = try client.call(
            SecretClient.service, "Service", "GetSecrets", [[item].busValue, .objectPath(session.path)],
            returning: [.dictionary(key: .objectPath, value: .secret)])
        #expect(try secrets.nextValue() == .dictionary(key: .objectPath, value: .secret, []))
        withExtendedLifetime(world) {}
    }

    /// The properties of an item, as libsecret reads them.
    private static func properties(_ item: ObjectPath, _ client: SecretClient) throws -> [String: BusVariant] {
        var answer = try client.call(
            item, "org.freedesktop.DBus.Properties", "GetAll", [.string("org.freedesktop.Secret.Item")],
            returning: [.dictionary(key: .string, value: .variant)])
        return try answer.next()
    }

    private static let readProperties = ["Attributes", "Type", "Created", "Modified"]

    @Test("SECS-17: of an item that was locked before the service was started, nothing is shown as an answer")
    func unknown() throws {
        let passcode = "1234"
        let world = try SecretWorld(passcode: passcode, person: TestPerson([passcode])) { store in
            for name in ["one", "two"] {
                _ = try store.add(
                    NewSecretItem(
                        label: name, attributes: try SecretAttributes(testing: ["a": "1", "n": name]),
                        secret: SecretValue(SharedSecret(copying: name.utf8), contentType: "text/plain")),
                    replacing: false, to: .login)
            }
            try store.lock(.login)
        }
        let client = try world.client()
        let items = try client.search(["a": "1"]).locked
        try #require(items.count == 2)
        for item in items {
            let shown = try Self.properties(item, client)
            #expect(shown["Locked"]?.content(as: Bool.self) == true)
            #expect(shown["Label"]?.content(as: String.self) == "(locked)")
            // libsecret ends its program without them, and an empty map would look like an answer.
            let names = shown["Attributes"]?.content(as: [String: String].self)?.keys.map { $0 }
            #expect(names == ["org.freedesktop.Secret.Error.IsLocked"])
            #expect(try client.text("Label", of: item, "Item") == "(locked)")
            for name in Self.readProperties {
                let error = errorName {
                    try client.call(
                        item, "org.freedesktop.DBus.Properties", "Get",
                        [.string("org.freedesktop.Secret.Item"), .string(name)], returning: [.variant])
                }
                #expect(error == "IsLocked", "\(name)")
            }
        }
        let told = Announced()
        let rule = SignalRule(
            from: SecretClient.name, "org.freedesktop.DBus.Properties", "PropertiesChanged", path: .object(items[0]),
            types: [.string, .dictionary(key: .string, value: .variant), .array(.string)])
        let subscription = try client.bus.subscribe(to: rule) { signal in
            var content = signal.content
            _ = try? content.next(String.self)
            guard let changed = try? content.next([String: BusVariant].self) else { return }
            told.labels.withLock { $0.append(changed["Label"]?.content(as: String.self)) }
        }
        let result = try client.prompt(try Self.unlock(client, [items[0]]).1)
        #expect(!result.isDismissed)
        // libsecret keeps the properties that it has read; the new ones arrive before the end of the prompt.
        #expect(told.labels.withLock { $0.first } == "one")
        for (item, name) in zip(items, ["one", "two"]) {
            #expect(try client.text("Label", of: item, "Item") == name)
        }
        try world.store.lock(.login)
        #expect(try Set(items.map { try client.text("Label", of: $0, "Item") }) == ["one", "two"])
        #expect(try Set(items.map { try Self.properties($0, client).count }) == [6])
        withExtendedLifetime((world, subscription)) {}
    }

    private final class Announced: Sendable {
        let labels = Mutex<[String?]>([])
    }

    @Test("SECS-17: a change of an item is shown after a lock, and a deleted item is not there any more")
    func changed() throws {
        let (world, client, item) = try Self.locked(TestPerson(["1234"]))
        _ = try client.prompt(try Self.unlock(client, [item]).1)
        try client.set("Label", of: item, "Item", to: BusVariant("new"))
        try client.set("Attributes", of: item, "Item", to: BusVariant(["b": "2"]))
        let session = try client.openPlain()
        let replaced = try client.create("x", ["c": "3"], label: "first", session)
        #expect(try client.create("y", ["c": "3"], label: "second", replacing: true, session) == replaced)
        let deleted = try client.create("x", ["d": "4"], label: "gone", session)
        try client.call(deleted, "Item", "Delete", returning: [.objectPath])
        try world.store.lock(.login)
        #expect(try client.text("Label", of: item, "Item") == "new")
        let attributes: [String: String] = try client.property("Attributes", of: item, "Item")
        #expect(attributes["b"] == "2" && attributes["a"] == nil)
        #expect(try client.text("Label", of: replaced, "Item") == "second")
        #expect(errorName { _ = try client.text("Label", of: deleted, "Item") } == "UnknownMethod")
        let identifier = try #require(
            SecretPath(deleted).flatMap { if case .item(_, let item) = $0 { item } else { nil } })
        let forgotten = SecretItem(locked: ItemReference(.login, identifier))
        #expect(world.server.known.completed(forgotten).metadata == nil)
        withExtendedLifetime(world) {}
    }

    @Test("SECS-17: in a collection of many items, one that another program has changed is not shown as it was")
    func changedAmongMany() throws {
        var references: [ItemReference] = []
        let world = try SecretWorld(passcode: "1234") { store in
            for number in 0..<3 * SecretLimits.maxAnnouncedItems {
                let item = NewSecretItem(
                    label: "old", attributes: try SecretAttributes(testing: ["n": "\(number)"]),
                    secret: SecretValue(SharedSecret(copying: "s".utf8), contentType: "text/plain"))
                references.append(try store.add(item, replacing: false, to: .login).reference)
            }
        }
        let known = world.server.known
        func label(_ item: ItemReference) -> String? { known.completed(SecretItem(locked: item)).label }
        // The items that the service reads when it starts: not all of them.
        #expect(eventually { references.count { label($0) != nil } > SecretLimits.maxAnnouncedItems })
        let client = try world.client()
        let seen = references.prefix(20)
        for item in seen { #expect(try client.text("Label", of: item.path, "Item") == "old") }
        for item in seen { try world.store.update(item, with: SecretItemUpdate(label: "new")) }
        #expect(eventually { seen.allSatisfy { label($0) == "new" } })
        try world.store.lock(.login)
        for item in seen { #expect(try client.text("Label", of: item.path, "Item") == "new") }
    }

    @Test("The lock of an item is announced, so that a program that shows the item reads it again")
    func lockOfItems() throws {
        let world = try SecretWorld(passcode: "1234")
        let (client, observer) = (try world.client(), try world.client())
        _ = try client.create("s3cret", ["a": "1"], try client.openPlain())
        let changed = EventCount()
        let subscription = try observer.bus.subscribe(
            to: SignalRule(
                from: SecretClient.name, "org.freedesktop.Secret.Collection", "ItemChanged",
                path: .object(SecretClient.login), types: [.objectPath])
        ) { _ in changed.increase() }
        try world.store.lock(.login)
        #expect(eventually { changed.value == 1 })
        withExtendedLifetime(subscription) {}
    }

    @Test("The passcode unlocks after a wrong one, and the result has the paths that were asked for")
    func unlock() throws {
        let person = TestPerson(["wrong", "1234"])
        let (world, client, item) = try Self.locked(person)
        let (unlocked, prompt) = try Self.unlock(client, [item, SecretClient.alias, "/nonexistent"])
        #expect(unlocked.isEmpty && prompt != "/")
        let result = try client.prompt(prompt)
        #expect(!result.isDismissed && result.value == [item, SecretClient.alias].busValue)
        #expect(person.questions.map(\.attemptsLeft) == [nil, 2])
        #expect(person.questions.first?.program.executable.hasPrefix("/") == true)
        #expect(try client.secret(of: item, try client.openPlain()).text == "s3cret")
        let again = try Self.unlock(client, [item])
        #expect(again.0 == [item] && again.1 == "/")
        withExtendedLifetime(world) {}
    }

    @Test("A cancelled prompt, and one that nothing can ask, are dismissed with an empty list of paths")
    func cancelled() throws {
        let (world, client, item) = try Self.locked(TestPerson())
        let (_, prompt) = try Self.unlock(client, [item])
        let result = try client.prompt(prompt)
        #expect(result.isDismissed && result.value == .array(of: .objectPath, []))
        #expect(errorName { try client.call(prompt, "Prompt", "Prompt", [.string("")]) } == "UnknownMethod")
        withExtendedLifetime(world) {}
    }

    @Test("Prompts for one keychain at the same time are one question with one answer for all")
    func shared() throws {
        let person = TestPerson(["1234"])
        let (world, client, item) = try Self.locked(person)
        let clients = [client, try world.client(), try world.client()]
        let prompts = try clients.map { try Self.unlock($0, [item]).1 }
        let calls = zip(clients, prompts).map { client, prompt in
            BackgroundPrompt { try client.prompt(prompt).isDismissed }
        }
        for call in calls { #expect(call.value() == false) }
        #expect(person.questions.count == 1)
        withExtendedLifetime(world) {}
    }

    @Test("The dismissal of a prompt, and the end of its program, end the question")
    func dismissed() throws {
        let person = TestPerson(waits: true)
        let (world, client, item) = try Self.locked(person)
        let (_, prompt) = try Self.unlock(client, [item])
        #expect(errorName { try (try world.client()).call(prompt, "Prompt", "Dismiss") } == "AccessDenied")
        let waiting = BackgroundPrompt { try client.prompt(prompt).isDismissed }
        #expect(eventually { person.questions.count == 1 })
        try client.call(prompt, "Prompt", "Dismiss")
        #expect(waiting.value() == true)
        let other = try world.client()
        let (_, next) = try Self.unlock(other, [item])
        try other.call(next, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 2 })
        other.bus.close()
        // The question has ended, so that another one is asked.
        let (_, last) = try Self.unlock(client, [item])
        #expect(
            eventually {
                errorName { try client.call(next, "Prompt", "Dismiss") } == "UnknownMethod"
            })
        try client.call(last, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 3 })
        try client.call(last, "Prompt", "Dismiss")
    }

    @Test("A passcode crosses the bus only in an encrypted session, and a wrong one is denied")
    func masterPassword() throws {
        let (world, client, item) = try Self.locked(TestPerson())
        func unlock(_ passcode: String, _ session: SecretClient.Session) throws {
            let (parameters, value) = try session.cipher.encrypt(.init(copying: passcode.utf8))
            let secret = TransferredSecret(
                session: session.path, parameters: parameters, value: value, contentType: "text/plain")
            try client.call(
                SecretClient.service, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
                "UnlockWithMasterPassword", [.objectPath(SecretClient.login), secret.busValue])
        }
        let plain = try client.openPlain()
        let encrypted = try client.openEncrypted()
        #expect(errorName { try unlock("1234", plain) } == "NotSupported")
        #expect(errorName { try unlock("wrong", encrypted) } == "Denied")
        try unlock("1234", encrypted)
        #expect(try client.secret(of: item, plain).text == "s3cret")
        withExtendedLifetime(world) {}
    }
}
