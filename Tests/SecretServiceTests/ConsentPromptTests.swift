// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
@testable import SecretService
import SystemBus
import Testing

/// The items that a program reads without a question, and the prompts for the rest.
@Suite("Consent to reading", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct ConsentPromptTests {
    @Test(
        "SECS-11: without the setting, and with never, every program reads silently",
        arguments: [nil, ConsentMode.never])
    func never(_ mode: ConsentMode?) throws {
        let world = try ConsentWorld(mode)
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        let session = try client.openPlain()
        #expect(try client.search(["a": "1"]).unlocked == [item])
        #expect(try client.secret(of: item, session).text == "s3cret")
        #expect(try client.readable([item], session) == [.objectPath(item)])
        let answer = try client.unlock([item])
        #expect(answer.unlocked == [item] && answer.prompt == "/")
        #expect(world.person.questions.isEmpty)
    }

    @Test("SECS-12: the program that has stored an item reads it silently")
    func creator() throws {
        let world = try ConsentWorld(.creator)
        let client = try world.client()
        let item = try client.create("s3cret", ["a": "1"], try client.openPlain())
        // Also in another process or at another time.
        let later = try world.client()
        #expect(try later.search(["a": "1"]).unlocked == [item])
        let isLocked: Bool = try later.property("Locked", of: item, "Item")
        #expect(!isLocked)
        #expect(try later.secret(of: item, try later.openPlain()).text == "s3cret")
        #expect(world.person.questions.isEmpty)
    }

    @Test("SECS-13: to another program, the item is locked and shows its attributes, until the person has agreed")
    func another() throws {
        let world = try ConsentWorld(.creator, person: TestPerson(["once", nil]))
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        let session = try client.openPlain()
        #expect(try client.search(["a": "1"]).locked == [item])
        func isLocked() throws -> Bool { try client.property("Locked", of: item, "Item") }
        #expect(try isLocked())
        #expect(try client.text("Label", of: item, "Item") == "mail")
        let attributes: [String: String] = try client.property("Attributes", of: item, "Item")
        #expect(attributes["a"] == "1")
        #expect(errorName { _ = try client.secret(of: item, session) } == "IsLocked")
        #expect(try client.readable([item], session).isEmpty)
        let (unlocked, prompt) = try client.unlock([item])
        #expect(unlocked.isEmpty)
        let result = try client.prompt(prompt)
        #expect(!result.isDismissed && result.value == [item].busValue)
        let question = try #require(world.person.questions.first)
        #expect(question.kind == .consent(ConsentSubject(count: 1, canBeKept: true)) && question.label == "mail")
        #expect(question.program.executable.hasPrefix("/") && question.program.process != nil)
        // From now on it is open, without another question.
        #expect(try !isLocked() && client.search(["a": "1"]).unlocked == [item])
        #expect(try client.secret(of: item, session).text == "s3cret")
        #expect(try client.readable([item], session) == [.objectPath(item)])
        #expect(try client.unlock([item]).prompt == "/" && world.person.questions.count == 1)
        // The answer was for this connection, and nothing is kept.
        let other = try world.client()
        #expect(try other.search(["a": "1"]).locked == [item])
        #expect(try other.prompt(try other.unlock([item]).prompt).isDismissed)
        #expect(try world.person.questions.count == 2 && world.consents.all().isEmpty)
    }

    @Test("SECS-12: with always, also the program that has stored the item is asked about")
    func always() throws {
        let world = try ConsentWorld(.always, person: TestPerson(["once"]))
        let client = try world.client()
        let session = try client.openPlain()
        let item = try client.create("s3cret", ["a": "1"], session)
        #expect(errorName { _ = try client.secret(of: item, session) } == "IsLocked")
        #expect(try !client.prompt(try client.unlock([item]).prompt).isDismissed)
        #expect(try client.secret(of: item, session).text == "s3cret")
        let missing: ObjectPath = "/org/freedesktop/secrets/collection/login/0a"
        #expect(errorName { _ = try client.secret(of: missing, session) } == "UnknownMethod")
    }

    @Test("SECS-12: an item of no client has no creator, and is asked about")
    func withoutCreator() throws {
        let world = try ConsentWorld(.creator)
        let record = try world.keychain.service.by(CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true))
            .add(
                ItemAddition(
                    .genericPassword, attributes: [.service: .string("example.com")],
                    secrets: ItemSecrets(data: SharedSecret(copying: "s3cret".utf8))))
        let client = try world.client()
        let found = try client.search(["service": "example.com"])
        #expect(found.unlocked.isEmpty && found.locked.count == 1)
        #expect(record.creators.isEmpty)
    }

    @Test("SECS-15: an answer for good holds for later connections, until it is revoked")
    func kept() throws {
        let world = try ConsentWorld(.creator, person: TestPerson(["always"]))
        let item = try world.addForeign("s3cret", ["a": "1"])
        let other = try world.addForeign("other", ["b": "2"])
        let client = try world.client()
        #expect(try !client.prompt(try client.unlock([item]).prompt).isDismissed)
        let kept = try world.consents.all()
        #expect(kept.count == 1 && kept.first?.consent.scope != .everyItem)
        let later = try world.client()
        #expect(try later.secret(of: item, try later.openPlain()).text == "s3cret")
        // It is about this item only.
        #expect(try later.search(["b": "2"]).locked == [other])
        let program = try #require(kept.first?.consent.program)
        #expect(try world.consents.remove(program) == 1)
        // Also for the connection that has asked.
        #expect(try eventually { try client.search(["a": "1"]).locked == [item] })
        #expect(world.person.questions.count == 1)
    }

    @Test("SECS-15: a program with consent for every item reads them silently")
    func everyItem() throws {
        let world = try ConsentWorld(.always)
        let items = [try world.addForeign("1", ["a": "1"]), try world.addForeign("2", ["b": "2"])]
        let client = try world.client()
        let session = try client.openPlain()
        #expect(try client.readable(items, session).isEmpty)
        let program = try #require(ProcessDirectory(getpid()).executable.flatMap { ProgramPath($0) })
        try world.consents.add([Consent(program, .everyItem)])
        #expect(try eventually { try client.readable(items, session).count == 2 })
        #expect(try client.unlock(items).unlocked == items)
    }

    @Test("SECS-14: a refusal is remembered for the connection, so that a client in a loop asks once")
    func refused() throws {
        let world = try ConsentWorld(.creator)
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        for _ in 0..<3 {
            let result = try client.prompt(try client.unlock([item]).prompt)
            #expect(result.isDismissed && result.value == .array(of: .objectPath, []))
        }
        #expect(world.person.questions.count == 1)
        // Another item, and another connection, are another question.
        let second = try world.addForeign("2", ["b": "2"])
        #expect(try client.prompt(try client.unlock([second]).prompt).isDismissed)
        let other = try world.client()
        #expect(try other.prompt(try other.unlock([item]).prompt).isDismissed)
        #expect(world.person.questions.count == 3)
    }

    @Test("SECS-14: where nothing can ask, the prompt is dismissed at once, and the log names the command")
    func unavailable() throws {
        let world = try ConsentWorld(.creator, canAsk: false)
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        #expect(try client.prompt(try client.unlock([item]).prompt).isDismissed)
        #expect(world.log.all.contains { $0.contains("hint=latchkey consent allow /") }, "\(world.log.all)")
        #expect(errorName { _ = try client.secret(of: item, try client.openPlain()) } == "IsLocked")
    }

    @Test("SECS-14: a program that goes while it is asked about has no answer, and nothing is kept")
    func gone() throws {
        let person = TestPerson(waits: true)
        let world = try ConsentWorld(.creator, person: person)
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        let prompt = try client.unlock([item]).prompt
        try client.call(prompt, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 1 })
        client.bus.close()
        #expect(eventually { person.cancelledCount == 1 })
        let other = try world.client()
        let next = try other.unlock([item]).prompt
        try other.call(next, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 2 })
        try other.call(next, "Prompt", "Dismiss")
        // A dismissal is no refusal.
        let last = try other.unlock([item]).prompt
        try other.call(last, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 3 })
        try other.call(last, "Prompt", "Dismiss")
        #expect(try world.consents.all().isEmpty)
    }

    @Test("SECS-14: no call waits for the person")
    func notHeld() throws {
        let person = TestPerson(waits: true)
        let world = try ConsentWorld(.creator, person: person)
        let item = try world.addForeign("s3cret", ["a": "1"])
        let client = try world.client()
        let session = try client.openPlain()
        let prompt = try client.unlock([item]).prompt
        try client.call(prompt, "Prompt", "Prompt", [.string("")])
        #expect(eventually { person.questions.count == 1 })
        // The question is open, and these calls are answered.
        #expect(errorName { _ = try client.secret(of: item, session) } == "IsLocked")
        #expect(try client.readable([item], session).isEmpty && client.search(["a": "1"]).locked == [item])
        #expect(try client.unlock([item]).unlocked.isEmpty)
        try client.call(prompt, "Prompt", "Dismiss")
    }

    @Test("Several items are one question, and a locked keychain is unlocked before it, in one prompt")
    func several() throws {
        let world = try ConsentWorld(.creator, person: TestPerson(["correct horse battery", "once"]))
        let client = try world.client()
        let own = try client.create("0", ["c": "3"], try client.openPlain())
        let items = [try world.addForeign("1", ["a": "1"]), try world.addForeign("2", ["b": "2"]), own]
        try world.store.changePasscode(of: .login, from: nil, to: SharedSecret(copying: "correct horse battery".utf8))
        try world.store.lock(.login)
        let (unlocked, prompt) = try client.unlock(items)
        #expect(unlocked.isEmpty)
        let result = try client.prompt(prompt)
        #expect(!result.isDismissed && result.value == items.busValue)
        // The own item is not part of the question.
        let kinds = world.person.questions.map(\.kind)
        #expect(kinds == [.passcode, .consent(ConsentSubject(count: 2, canBeKept: true))])
        #expect(try client.readable(items, try client.openPlain()).count == 3)
    }

    @Test("SECS-16: consent is about reading: other programs change, replace and delete an item as before")
    func writing() throws {
        let world = try ConsentWorld(.creator)
        let replaced = try world.addForeign("1", ["a": "1", "xdg:schema": "x"])
        let deleted = try world.addForeign("2", ["b": "2"])
        let client = try world.client()
        let session = try client.openPlain()
        #expect(errorName { _ = try client.secret(of: replaced, session) } == "IsLocked")
        #expect(try client.create("new", ["a": "1", "xdg:schema": "x"], replacing: true, session) == replaced)
        // The client reads the secret that it has stored itself.
        #expect(try client.secret(of: replaced, session).text == "new")
        try client.call(deleted, "Item", "Delete", returning: [.objectPath])
        #expect(try client.search(["b": "2"]).locked.isEmpty && world.person.questions.isEmpty)
    }
}
