// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LinuxSystem
import SecretMemory
@testable import SecretService
import SecretTransfer
import SystemBus
import Testing

@Suite("Hostile clients of the Secret Service", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct HostileClientTests {
    @Test(
        "Paths that name no object are answered as such",
        arguments: [
            "/org/freedesktop/secrets/collection/missing", "/org/freedesktop/secrets/collection/_6c_6f_67_69_6e",
            "/org/freedesktop/secrets/collection/login/00", "/org/freedesktop/secrets/collection/login/zz",
            "/org/freedesktop/secrets/collection/login/0a/0b", "/org/freedesktop/secrets/session/s99",
            "/org/freedesktop/secrets/session/s01", "/org/freedesktop/secrets/prompt/p1",
            "/org/freedesktop/secrets/aliases/other", "/org/freedesktop/secrets/other",
        ])
    func paths(_ path: String) throws {
        let world = try SecretWorld()
        let client = try world.client()
        let object = try ObjectPath(validating: path)
        for (interface, member) in [("Item", "Delete"), ("Collection", "Delete"), ("Session", "Close")] {
            let name = errorName { try client.call(object, interface, member, returning: [.objectPath]) }
            #expect(name == "UnknownMethod", "\(member)")
        }
        // In arguments they are left out.
        var answer = try client.call(
            SecretClient.service, "Service", "Unlock", [[object].busValue], returning: [.paths, .objectPath])
        #expect(try answer.next([ObjectPath].self).isEmpty)
    }

    @Test("Arguments of other types, unknown properties and unknown algorithms are refused by name")
    func arguments() throws {
        let world = try SecretWorld()
        let client = try world.client()
        func name(_ member: String, _ arguments: [BusValue]) -> String? {
            errorName { try client.call(SecretClient.service, "Service", member, arguments) }
        }
        #expect(name("OpenSession", []) == "InvalidArgs")
        #expect(name("OpenSession", [.string("plain"), .variant(.uint32(1))]) == "InvalidArgs")
        #expect(name("OpenSession", [.string("rot13"), .variant(.string(""))]) == "NotSupported")
        for key: [UInt8] in [[], [0], [1], [UInt8](repeating: 0xFF, count: 128), [UInt8](repeating: 1, count: 129)] {
            let algorithm = BusValue.string(SessionCipher.diffieHellmanName)
            #expect(name("OpenSession", [algorithm, .variant(.bytes(key))]) == "InvalidArgs", "\(key.count)")
        }
        // Short keys are accepted, as by gnome-keyring.
        try client.call(
            SecretClient.service, "Service", "OpenSession",
            [.string(SessionCipher.diffieHellmanName), .variant(.bytes([5]))], returning: [.variant, .objectPath])
        #expect(name("SearchItems", [["a": "1"].busValue, .byte(1)]) == "InvalidArgs")
        #expect(name("Nonsense", []) == "UnknownMethod")
        let many = (0...SecretAttributes.maxCount).map { ("name\($0)", "value") }
        #expect(name("SearchItems", [Dictionary(uniqueKeysWithValues: many).busValue]) == "LimitsExceeded")
        let session = try client.openPlain()
        let sent = TransferredSecret(
            session: session.path, parameters: .init(copying: [UInt8]()), value: .init(copying: "x".utf8),
            contentType: "")
        for properties: [String: BusVariant] in [
            ["Label": BusVariant("a")], ["org.freedesktop.Secret.Item.Label": BusVariant(UInt32(1))],
            ["org.freedesktop.Secret.Item.Attributes": BusVariant("a")],
        ] {
            let name = errorName {
                try client.call(
                    SecretClient.alias, "Collection", "CreateItem",
                    [properties.busValue, sent.busValue, .boolean(false)], returning: [.objectPath, .objectPath])
            }
            #expect(name == "InvalidArgs")
        }
    }

    @Test("A secret that is not encrypted as its session requires is refused")
    func malformedSecrets() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let session = try client.openEncrypted()
        for (vector, value) in [(0, 16), (15, 16), (16, 0), (16, 15), (16, 16)] {
            let sent = TransferredSecret(
                session: session.path, parameters: .init(copying: [UInt8](repeating: 1, count: vector)),
                value: .init(copying: [UInt8](repeating: 2, count: value)), contentType: "text/plain")
            let name = errorName {
                try client.call(
                    SecretClient.alias, "Collection", "CreateItem",
                    [[String: BusVariant]().busValue, sent.busValue, .boolean(false)],
                    returning: [.objectPath, .objectPath])
            }
            // One block may have a valid padding by chance, once in 256.
            #expect(name == "InvalidArgs" || (vector, value) == (16, 16), "\(vector) \(value)")
        }
    }

    @Test("A program has a limited number of sessions, and another one is not affected")
    func sessions() throws {
        let world = try SecretWorld()
        let (client, other) = (try world.client(), try world.client())
        var last: String?
        for _ in 0..<16_400 where last == nil { last = errorName { _ = try client.openPlain() } }
        #expect(last == "LimitsExceeded")
        _ = try other.openPlain()
    }

    @Test("A program may open a session for each item that it reads, and close none")
    func manySessions() throws {
        let world = try SecretWorld()
        let client = try world.client()
        #expect(errorName { for _ in 0..<1000 { _ = try client.openPlain() } } == nil)
    }

    @Test("A program that calls without end is refused by name, and another one is answered")
    func flood() throws {
        let clock = FrozenClock()
        let budgets = SenderBudgets(SenderBudgets.Rate(burst: 10, perSecond: 5), clock: clock.clock)
        for _ in 0..<10 { try budgets.spendCall(by: ":1.1") }
        #expect(throws: BusFailure.self) { try budgets.spendCall(by: ":1.1") }
        try budgets.spendCall(by: ":1.2")
        clock.advance(1_000_000_000)
        for _ in 0..<5 { try budgets.spendCall(by: ":1.1") }
        #expect(throws: BusFailure.self) { try budgets.spendCall(by: ":1.1") }
        clock.advance(.max / 2)
        for _ in 0..<10 { try budgets.spendCall(by: ":1.1") }
        let item = BudgetItem("things", max: 1)
        try budgets.acquire(item, by: ":1.1")
        #expect(throws: BusFailure.self) { try budgets.acquire(item, by: ":1.1") }
        budgets.release(item, by: ":1.1")
        try budgets.acquire(item, by: ":1.1")
        budgets.forget(":1.1")
        try budgets.acquire(item, by: ":1.1")
    }

    @Test("Calls of several programs are answered in turn, those of one in their order")
    func turns() throws {
        let calls = try #require(FairCalls(threads: 1))
        defer { calls.end() }
        let order = SystemMutex<[String]>([])
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        calls.add(for: ":1.1") {
            begun.signal()
            going.awaitSignal()
        }
        begun.awaitSignal()
        for number in 1...3 { calls.add(for: ":1.1") { order.withLock { $0.append("one \(number)") } } }
        calls.add(for: ":1.3") { order.withLock { $0.append("not done") } }
        calls.add(for: ":1.2") { order.withLock { $0.append("two") } }
        // A program that has ended has nothing left but its end.
        calls.end(":1.3") { order.withLock { $0.append("end") } }
        going.signal()
        #expect(eventually { order.withLock { $0.count } == 5 })
        let done = order.withLock { $0 }
        #expect(done.filter { $0.hasPrefix("one") } == ["one 1", "one 2", "one 3"], "\(done)")
        #expect(!done.contains("not done"), "\(done)")
        #expect(done.prefix(3).contains("two") && done.prefix(3).contains("end"), "\(done)")
    }

    @Test("A call that takes long delays the later ones of its program only")
    func longCall() throws {
        let calls = try #require(FairCalls(threads: 2))
        defer { calls.end() }
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = SystemMutex<[String]>([])
        calls.add(for: ":1.1") {
            begun.signal()
            going.awaitSignal()
        }
        begun.awaitSignal()
        calls.add(for: ":1.1") { done.withLock { $0.append("same") } }
        for number in 1...100 { calls.add(for: ":1.2") { done.withLock { $0.append("\(number)") } } }
        #expect(eventually { done.withLock { $0.count } == 100 })
        #expect(done.withLock { $0 } == (1...100).map { "\($0)" })
        going.signal()
        #expect(eventually { done.withLock { $0.last } == "same" })
    }

    @Test("A program that never reads its answers gets no more of them, and another one is answered")
    func neverReads() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let session = try client.openPlain()
        let item = try client.create(String(repeating: "x", count: 1 << 20), ["size": "large"], session)
        // Sessions are numbered in turn.
        let name = try #require(session.path.text.split(separator: "/").last)
        let number = try #require(Int(name.dropFirst()))
        let silent = try SilentClient(world.bus)
        try silent.openPlain()
        let other = try ObjectPath(validating: "/org/freedesktop/secrets/session/s\(number + 1)")
        // More than the bus keeps of one sender, which is 127 MiB.
        for _ in 0..<300 { try silent.getSecret(item, session: other) }
        let search = BusMethod(SecretClient.name, SecretClient.service, "org.freedesktop.Secret.Service", "SearchItems")
        for _ in 0..<400 {
            try client.bus.call(
                search, [["no": "item"].busValue], returning: [.paths, .paths], timeout: .seconds(120))
        }
        #expect(try client.secret(of: item, session).text.utf8.count == 1 << 20)
        withExtendedLifetime(silent) {}
    }

    @Test("Half a call, and a program that ends in the middle of one, delay no other program")
    func halfACall() throws {
        let world = try SecretWorld()
        let client = try world.client()
        let silent = try SilentClient(world.bus)
        try silent.sendHalfACall()
        do {
            let ending = try SilentClient(world.bus)
            try ending.openPlain()
            try ending.sendHalfACall()
        }
        let session = try client.openPlain()
        let item = try client.create("s3cret", ["a": "1"], session)
        #expect(try client.secret(of: item, session).text == "s3cret")
        withExtendedLifetime(silent) {}
    }

    @Test("The sessions and prompts of a program that has ended are gone, and another one cannot use them before")
    func vanished() throws {
        let world = try SecretWorld(passcode: "1234", person: TestPerson(waits: true))
        let (client, leaving) = (try world.client(), try world.client())
        let (own, session) = (try client.openPlain(), try leaving.openPlain())
        let item = try client.create("s3cret", ["a": "1"], own)
        // Neither read from it, nor written, nor in several.
        #expect(errorName { _ = try client.secret(of: item, session) } == "NoSession")
        #expect(errorName { _ = try client.create("x", ["a": "2"], session) } == "NoSession")
        let all = errorName {
            try client.call(
                SecretClient.service, "Service", "GetSecrets", [[item].busValue, .objectPath(session.path)],
                returning: [.dictionary(key: .objectPath, value: .secret)])
        }
        #expect(all == "NoSession")
        try leaving.call(
            SecretClient.service, "Service", "Lock", [[SecretClient.login].busValue], returning: [.paths, .objectPath])
        var answer = try leaving.call(
            SecretClient.service, "Service", "Unlock", [[item].busValue], returning: [.paths, .objectPath])
        _ = try answer.next([ObjectPath].self)
        let prompt = try answer.next(ObjectPath.self)
        #expect(errorName { try client.call(prompt, "Prompt", "Prompt", [.string("")]) } == "AccessDenied")
        try leaving.call(prompt, "Prompt", "Prompt", [.string("")])
        leaving.bus.close()
        for (path, interface, member) in [(session.path, "Session", "Close"), (prompt, "Prompt", "Dismiss")] {
            #expect(eventually { errorName { try client.call(path, interface, member) } == "UnknownMethod" })
        }
    }

    @Test("Questions that are asked and withdrawn without end start few threads")
    func questions() throws {
        let questions = SharedQuestions()
        let asked = SystemMutex(0)
        let ended = SystemMutex(0)
        let going = SystemMutex(false)
        for number in UInt64(1)...100 {
            questions.ask(.passcode(LockDomain("keychain")), number) { _ in
                asked.withLock { $0 += 1 }
                _ = eventually { going.withLock { $0 } }
                return false
            } completion: { _ in
                ended.withLock { $0 += 1 }
            }
            questions.withdraw(number)
        }
        #expect(ended.withLock { $0 } == 100 - 16)
        going.withLock { $0 = true }
        #expect(eventually { asked.withLock { $0 } == 16 })
    }

    @Test("Secrets of more than 30 MiB, which could end the connection of the service, are not in one answer")
    func manyLarge() throws {
        let world = try SecretWorld()
        let client = SecretClient(try BusConnection(to: .custom(world.bus.address), limits: SecretLimits.bus))
        let session = try client.openPlain()
        let text = String(repeating: "x", count: 4 << 20)
        let items = try (1...8).map { try client.create(text, ["number": "\($0)"], session) }
        func secrets(of items: [ObjectPath]) throws {
            _ = try client.call(
                SecretClient.service, "Service", "GetSecrets", [items.busValue, .objectPath(session.path)],
                returning: [.dictionary(key: .objectPath, value: .secret)], holdsSecrets: true)
        }
        try secrets(of: Array(items.prefix(7)))
        #expect(errorName { try secrets(of: items) } == "LimitsExceeded")
        #expect(try client.secret(of: items[3], session).text.utf8.count == text.utf8.count)
    }

    @Test("A secret of 4 MiB is stored and read; a larger one is refused")
    func large() throws {
        let world = try SecretWorld()
        let client = SecretClient(try BusConnection(to: .custom(world.bus.address), limits: SecretLimits.bus))
        let session = try client.openPlain()
        let text = String(repeating: "x", count: 4 << 20)
        let item = try client.create(text, ["size": "large"], session)
        #expect(try client.secret(of: item, session).text.utf8.count == text.utf8.count)
        #expect(errorName { _ = try client.create(text + "x", [:], session) } == "LimitsExceeded")
    }
}

/// A clock that a test advances.
private final class FrozenClock: Sendable {
    private let time = SystemMutex<UInt64>(1)

    var clock: BootClock { BootClock(now: { self.time.withLock { $0 } }, identifier: { "" }) }

    func advance(_ nanoseconds: UInt64) { time.withLock { $0 += nanoseconds } }
}
