// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainTesting
import LinuxSystem
import Logging
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

    @Test(
        "The connections of a program share a limited number of sessions, and another one is not affected",
        .enabled(if: SecretWorld.hasOtherPrograms, "busctl is not installed"))
    func sessions() throws {
        let world = try SecretWorld()
        let (client, second) = (try world.client(), try world.client())
        var last: String?
        for _ in 0..<8200 where last == nil {
            last = errorName { _ = try client.openPlain() } ?? errorName { _ = try second.openPlain() }
        }
        #expect(last == "LimitsExceeded")
        #expect(try world.openSessionInAnotherProcess() == 0)
        // Those of a connection that has ended are free again.
        second.bus.close()
        #expect(eventually { errorName { _ = try client.openPlain() } == nil })
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
        // Two connections of one process, and one of another.
        let (one, same, other) = (Self.caller(":1.1", 71), Self.caller(":1.2", 71), Self.caller(":1.3", 73))
        for _ in 0..<5 {
            try budgets.spendCall(by: one)
            try budgets.spendCall(by: same)
        }
        for caller in [one, same] { #expect(throws: BusFailure.self) { try budgets.spendCall(by: caller) } }
        try budgets.spendCall(by: other)
        clock.advance(1_000_000_000)
        for _ in 0..<5 { try budgets.spendCall(by: same) }
        #expect(throws: BusFailure.self) { try budgets.spendCall(by: one) }
        clock.advance(.max / 2)
        for _ in 0..<10 { try budgets.spendCall(by: one) }
        let item = BudgetItem("things", max: 3)
        try budgets.acquire(item, 2, by: one)
        #expect(throws: BusFailure.self) { try budgets.acquire(item, 2, by: same) }
        try budgets.acquire(item, by: same)
        budgets.release(item, 2, by: one)
        #expect(throws: BusFailure.self) { try budgets.acquire(item, 3, by: one) }
        budgets.forget(":1.2")
        try budgets.acquire(item, 3, by: one)
        budgets.forget(":1.1")
        try budgets.acquire(item, 3, by: one)
    }

    private static func caller(_ connection: BusName, _ process: Int32) -> BusCaller {
        BusCaller(connection, BusPeer(user: 1000, process: process))
    }

    @Test("Calls of several programs are answered in turn, those of one in their order")
    func turns() throws {
        let calls = try #require(FairCalls(threads: 1))
        defer { calls.end() }
        let order = SystemMutex<[String]>([])
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func add(_ text: String, _ connection: BusName, _ process: Int32) {
            calls.add(for: Self.caller(connection, process)) {
                order.withLock { $0.append(text) }
                return nil
            }
        }
        calls.add(for: Self.caller(":1.1", 1)) {
            begun.signal()
            going.awaitSignal()
            return nil
        }
        begun.awaitSignal()
        // Two connections of one process have one turn.
        for number in 1...3 { add("one \(number)", number == 2 ? ":1.4" : ":1.1", 1) }
        add("not done", ":1.3", 3)
        add("two", ":1.2", 2)
        // A program that has ended has nothing left but its end.
        calls.end(":1.3") { order.withLock { $0.append("end") } }
        going.signal()
        #expect(eventually { order.withLock { $0.count } == 5 })
        let done = order.withLock { $0 }
        #expect(done.filter { $0.hasPrefix("one") } == ["one 1", "one 2", "one 3"], "\(done)")
        #expect(!done.contains("not done"), "\(done)")
        #expect(done.prefix(3).contains("two") && done.prefix(3).contains("end"), "\(done)")
    }

    @Test("A call that takes long delays the later ones of its program only, on any connection")
    func longCall() throws {
        let calls = try #require(FairCalls(threads: 2))
        defer { calls.end() }
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = SystemMutex<[String]>([])
        calls.add(for: Self.caller(":1.1", 1)) {
            begun.signal()
            going.awaitSignal()
            return nil
        }
        begun.awaitSignal()
        for (text, connection, process) in [("same", ":1.1", 1), ("same", ":1.9", 1)] as [(String, BusName, Int32)] {
            calls.add(for: Self.caller(connection, process)) {
                done.withLock { $0.append(text) }
                return nil
            }
        }
        for number in 1...100 {
            calls.add(for: Self.caller(":1.2", 2)) {
                done.withLock { $0.append("\(number)") }
                return nil
            }
        }
        #expect(eventually { done.withLock { $0.count } == 100 })
        #expect(done.withLock { $0 } == (1...100).map { "\($0)" })
        going.signal()
        #expect(eventually { done.withLock { $0.suffix(2) } == ["same", "same"] })
    }

    /// A call with a number of steps. Each step reports that it has begun, and waits.
    private final class LongCall: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let going = DispatchSemaphore(value: 0)
        private let left: SystemMutex<Int>
        private let started = SystemMutex(0)

        /// The steps that have begun.
        var count: Int { started.withLock { $0 } }

        init(steps: Int) { left = SystemMutex(steps) }

        @Sendable func run() -> FairCalls.Step? {
            started.withLock { $0 += 1 }
            begun.signal()
            going.awaitSignal()
            let isDone = left.withLock { left in
                left -= 1
                return left == 0
            }
            return isDone ? nil : FairCalls.Step { [self] in run() }
        }
    }

    @Test("Long calls of any number of programs leave a thread for calls that begin")
    func continuations() throws {
        let calls = try #require(FairCalls(threads: 2))
        let long = (0..<4).map { _ in LongCall(steps: 1000) }
        defer {
            calls.end()
            for call in long { for _ in 0..<1000 { call.going.signal() } }
        }
        for (number, call) in long.enumerated() {
            calls.add(for: Self.caller(":1.1", Int32(number + 1)), call.run)
            // The first step of each is done.
            call.begun.awaitSignal()
            call.going.signal()
        }
        // One of them goes on, and the others wait for it.
        #expect(eventually { long.reduce(0) { $0 + $1.count } == 5 })
        let done = SystemMutex(0)
        for number in 1...50 {
            calls.add(for: Self.caller(":1.2", Int32(100 + number))) {
                done.withLock { $0 += 1 }
                return nil
            }
        }
        #expect(eventually { done.withLock { $0 } == 50 })
        #expect(long.reduce(0) { $0 + $1.count } == 5)
    }

    @Test("The work for a program that has ended stops after its present step")
    func endedInTheMiddle() throws {
        let calls = try #require(FairCalls(threads: 2))
        defer { calls.end() }
        let long = LongCall(steps: 1000)
        calls.add(for: Self.caller(":1.1", 1), long.run)
        let done = SystemMutex<[String]>([])
        calls.add(for: Self.caller(":1.2", 1)) {
            done.withLock { $0.append("same process") }
            return nil
        }
        long.begun.awaitSignal()
        calls.end(":1.1") { done.withLock { $0.append("end") } }
        for _ in 0..<1000 { long.going.signal() }
        #expect(eventually { done.withLock { $0 } == ["end", "same process"] })
        #expect(long.count == 1)
    }

    @Test("A lock and a deletion are done also when their program has ended, the rest of other calls is not")
    func keptWork() throws {
        let calls = try #require(FairCalls(threads: 2))
        defer { calls.end() }
        let done = SystemMutex<[String]>([])
        @Sendable func step(_ name: String) -> FairCalls.Step {
            FairCalls.Step {
                done.withLock { $0.append(name) }
                return nil
            }
        }
        let (running, waiting) = (LongCall(steps: 1), LongCall(steps: 1))
        calls.add(for: Self.caller(":1.1", 1)) {
            _ = running.run()
            return FairCalls.Step { step("kept") }.kept
        }
        calls.add(for: Self.caller(":1.2", 2)) {
            _ = waiting.run()
            return step("other")
        }
        running.begun.awaitSignal()
        waiting.begun.awaitSignal()
        for name in [":1.1", ":1.2"] as [BusName] { calls.end(name) { done.withLock { $0.append("end") } } }
        running.going.signal()
        waiting.going.signal()
        #expect(eventually { done.withLock { $0.count } == 3 })
        #expect(done.withLock { $0.sorted() } == ["end", "end", "kept"])
    }

    @Test("A call with many paths is work for many turns, each of at most 1,024 paths, and its result is whole")
    func pathTurns() throws {
        let paths = try (0..<5000).map { try ObjectPath(validating: "/a/p\($0)") }
        let result = SystemMutex<[ObjectPath]>([])
        let turns = PathTurns(paths + paths, [ObjectPath]()) { path, progress in
            progress.append(path)
        } end: { end in
            result.withLock { $0 = (try? end.get()) ?? [] }
        }
        var (step, count): (FairCalls.Step?, Int) = (turns.step, 0)
        while let next = step, count < 20_000 { (step, count) = (next.run(), count + 1) }
        #expect(step == nil && count >= 10_000 / 1024 + 1)
        #expect(result.withLock { $0 } == paths)
    }

    @Test(
        "Calls with 60,000 paths on eight connections of one program do not delay another program",
        .enabled(if: SecretWorld.hasOtherPrograms, "busctl is not installed"))
    func manyPaths() throws {
        // Every question about an item waits for the gate.
        let gate = GatedConsents()
        defer { gate.open() }
        let world = try SecretWorld(consents: gate)
        let client = try world.client()
        let item = try client.create("s3cret", ["a": "1"], try client.openPlain())
        let attackers = try (0..<8).map { _ in try SilentClient(world.bus) }
        let missing = (0..<59_999).map { "\(SecretClient.login.text)/\(String(0x10000 + $0, radix: 16))0" }
        for attacker in attackers { try attacker.unlock([item.text] + missing) }
        #expect(eventually { gate.count > 0 })
        #expect(try world.openSessionInAnotherProcess() == 0)
        #expect(gate.count == 1)
        withExtendedLifetime(attackers) {}
    }

    @Test(
        "Searches of any number of programs leave a thread for calls that begin",
        .enabled(if: SecretWorld.hasOtherPrograms, "busctl is not installed"))
    func manySearches() throws {
        // Every question about an item that was found waits for the gate.
        let gate = GatedConsents()
        let world = try SecretWorld(consents: gate)
        let client = try world.client()
        _ = try client.create("s3cret", ["a": "1"], try client.openPlain())
        let searches = try (0..<3).map { _ in try world.startSearchInAnotherProcess() }
        defer {
            gate.open()
            for search in searches { _ = search.awaitExit() }
        }
        #expect(eventually { gate.count == 3 })
        // The fourth program: the bus has its call before that of the next one.
        let silent = try SilentClient(world.bus)
        try silent.search()
        #expect(try world.openSessionInAnotherProcess() == 0)
        #expect(gate.count == 3)
        withExtendedLifetime(silent) {}
    }

    @Test("The prompts of a program keep a limited number of paths")
    func pathsInPrompts() throws {
        let client = try SecretWorld().client()
        let budgets = SenderBudgets(SecretLimits.rate)
        let signals = SecretSignals(bus: client.bus, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let prompts = SecretPrompts(budgets, signals, SharedQuestions())
        let caller = Self.caller(":1.1", 1)
        let content = PromptContent(steps: [], paths: SecretLimits.maxPaths) { _ in
            PromptResult(isDismissed: true, value: .string(""))
        }
        for _ in 0..<2 { _ = try prompts.create(content, for: caller) }
        #expect(throws: BusFailure.self) { try prompts.create(content, for: Self.caller(":1.2", 1)) }
        _ = try prompts.create(content, for: Self.caller(":1.3", 3))
        prompts.endAll(of: ":1.1")
        budgets.forget(":1.1")
        _ = try prompts.create(content, for: Self.caller(":1.2", 1))
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
        // More than the 127 MiB that the bus keeps of one sender.
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

    @Test("Secrets of more than 30 MiB could end the connection of the service, and are not in one answer")
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
