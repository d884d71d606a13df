// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
@_spi(Testing) import LatchkeyService
import LinuxSystem
@testable import Presence
import Synchronization
import Testing

/// The protection of the person from programs that ask repeatedly, through the service. PromptGateTests and
/// PromptQueueTests have the rules in detail.
@Suite("How often a program may ask the person")
struct PromptRateTests {
    private typealias Fixture = ConstrainedCallTests.Fixture

    @Test("Five prompts at once of one program are one, and its answer serves all five", arguments: Backend.everywhere)
    func one(_ backend: Backend) throws {
        let gate = PromptGate()
        let fixture = try Fixture(backend, person: ScriptedPerson(gate: gate))
        try fixture.add("A", .userPresence)
        fixture.person.will(.after({ _ = eventually { gate.openCount == 5 } }, types: Sample.passcode))
        #expect(Self.fiveTimes { fixture.status("A") } == [0, 0, 0, 0, 0])
        #expect(fixture.person.takeQuestions().count == 1 && gate.openCount == 0)

        fixture.person.will(.cancelsAfter { _ = eventually { gate.openCount == 5 } })
        #expect(Self.fiveTimes { fixture.status("A") } == [-128, -128, -128, -128, -128])
        #expect(fixture.person.takeQuestions().count == 1)
        // Five cancelled calls were one cancellation of the person: the next call prompts.
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A") == 0)
    }

    @Test("A wrong passcode that answers five prompts counts as one attempt", arguments: Backend.everywhere)
    func wrong(_ backend: Backend) throws {
        let gate = PromptGate()
        let fixture = try Fixture(backend, person: ScriptedPerson(gate: gate))
        try fixture.add("A", .userPresence)
        let counted = Mutex<Int?>(nil)
        let service = fixture.keychain.service
        fixture.person.will(
            .after({ _ = eventually { gate.openCount == 5 } }, types: "wrong"),
            .after(
                {
                    _ = eventually { gate.openCount == 5 }
                    let count = try? service.administrator.lockStatus().wrongPasscodes
                    counted.withLock { $0 = count }
                }, types: Sample.passcode))
        #expect(Self.fiveTimes { fixture.status("A") } == [0, 0, 0, 0, 0])
        #expect(
            fixture.person.takeQuestions().map(\.previousFailure) == [nil, .wrongSecret(attemptsLeft: 2)])
        #expect(counted.withLock { $0 } == 1)
    }

    @Test(
        "After two cancellations within ten seconds, a program gets -128 without a prompt; another one is asked for",
        arguments: Backend.everywhere)
    func silenced(_ backend: Backend) throws {
        let clock = StoppedClock()
        let fixture = try Fixture(backend, person: ScriptedPerson(gate: PromptGate(clock: clock.boot)))
        for account in ["A", "B"] { try fixture.add(account, .userPresence) }
        func read(_ account: String, as caller: CallerIdentity = TestKeychain.caller) -> (Int32, Int) {
            let session = Fixture.session(fixture.keychain.service, as: caller)
            let status = status { () throws(KeychainError) in
                _ = try session.copyMatching(fixture.query(account), returning: .data)
            }
            return (status, fixture.person.takeQuestions().count)
        }
        var (process, program) = (TestKeychain.caller, TestKeychain.caller)
        process.process = CallerIdentity.ProcessIdentity(user: 1, process: 99)
        program.executable = "/usr/bin/other"

        #expect(read("A") == (-128, 1))
        clock.advance(seconds: 9)
        #expect(read("A") == (-128, 1))
        for account in ["A", "B"] { #expect(read(account) == (-128, 0)) }
        #expect(read("A", as: process) == (-128, 0))
        fixture.person.will(.types(Sample.passcode))
        #expect(read("A", as: program) == (0, 1))
        clock.advance(seconds: 9)
        #expect(read("A") == (-128, 0))
        clock.advance(seconds: 1)
        // Two cancellations with ten seconds between them are not within ten seconds.
        #expect(read("A") == (-128, 1))
        clock.advance(seconds: 10)
        #expect(read("A") == (-128, 1))
        fixture.person.will(.types(Sample.passcode))
        #expect(read("A") == (0, 1))
    }

    @Test("The prompt names a sandbox, a claimed and an attested identity as such", arguments: Backend.everywhere)
    func names(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let callers = [
            (CallerIdentity(executable: "/usr/bin/plain"), "Program: “/usr/bin/plain”"),
            (TestKeychain.caller, "Identity: “G1”, claimed by the program and not proven"),
            (
                CallerIdentity(executable: "/usr/bin/a", declaredGroups: ["G1"], attestedGroups: ["A"]),
                "Identity: “A”, attested by the system"
            ),
            (
                CallerIdentity(executable: "/app/a", sandbox: .application(group: "flatpak.org.example.App")),
                "Sandbox: “flatpak.org.example.App”"
            ),
            (CallerIdentity(executable: "/app/a", sandbox: .unidentified), "Sandbox: yes, of an unknown application"),
        ]
        for (caller, line) in callers {
            fixture.person.will(.types(Sample.passcode))
            let session = Fixture.session(fixture.keychain.service, as: caller)
            let context = try session.createContext()
            try session.authenticate(for: .policy(.owner), in: context, prompt: AuthenticationPrompt())
            let question = try #require(fixture.person.takeQuestions().first)
            let lines = PromptText(question).description.split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix(line) }, "\(lines)")
            // No line about an identity or a sandbox that the program lacks.
            for word in ["Identity:", "Sandbox:"] where !line.hasPrefix(word) {
                #expect(!lines.contains { $0.hasPrefix(word) }, "\(lines)")
            }
        }
    }

    // MARK: Support

    /// Calls `body` on five threads at once; returns the results.
    private static func fiveTimes(_ body: @escaping @Sendable () -> Int32) -> [Int32] {
        let results = Mutex<[Int32]>([])
        for _ in 0..<5 {
            let isRunning = BackgroundThread.run {
                let result = body()
                results.withLock { $0.append(result) }
            }
            #expect(isRunning)
        }
        _ = eventually { results.withLock { $0.count == 5 } }
        return results.withLock { $0 }
    }

    /// A clock that stands still at the start of the test, until the test advances it. Deadlines use the system's
    /// clock, so they are never before the time of this clock.
    private final class StoppedClock: Sendable {
        private let now = Mutex(BootClock.system.now())

        var boot: BootClock { BootClock(now: { self.now.withLock { $0 } }, identifier: { "" }) }

        func advance(seconds: UInt64) { now.withLock { $0 += seconds * 1_000_000_000 } }
    }
}
