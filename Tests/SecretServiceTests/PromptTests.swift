// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import SecretMemory
@testable import SecretService
import SecretTransfer
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

    @Test("Locked, an item is found as locked, shows nothing, and cannot be read or written")
    func locked() throws {
        let (world, client, item) = try Self.locked(TestPerson())
        let session = try client.openPlain()
        #expect(try client.search(["a": "1"]).locked == [item])
        #expect(try client.text("Label", of: item, "Item").isEmpty)
        let attributes: [String: String] = try client.property("Attributes", of: item, "Item")
        #expect(attributes.isEmpty)
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

    @Test("Prompts for one keychain at the same time are one question, whose answer is for all")
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

    @Test("A dismissed prompt, and one whose program has gone, end their question")
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
