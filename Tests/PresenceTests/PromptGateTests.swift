// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import SecretMemory
import Synchronization
import Testing

/// Threads that ask at the same time.
@Suite("One question of a user at a time")
struct PromptGateTests {
    @Test("Five threads with one question see one prompt, and get the same secret")
    func equal() {
        let (gate, prompts, release) = (PromptGate(), EventCount(), Cancellation())
        let threads = (0..<5).map { _ in
            Thread(gate, Self.request()) {
                prompts.increase()
                _ = eventually { release.isCancelled }
                return .confirmed(text: "secret")
            }
        }
        #expect(eventually { gate.openCount == 5 && prompts.value == 1 })
        release.request()
        for thread in threads { #expect(thread.outcome == .confirmed(text: "secret")) }
        #expect(prompts.value == 1 && gate.openCount == 0)
    }

    @Test("Questions of twenty users are displayed together, and twenty of one user one after the other")
    func users() {
        for users in [20, 1] {
            let (gate, prompts, most, release) = (PromptGate(), EventCount(), EventCount(), Cancellation())
            let displayed = Mutex(0)
            let threads = (0..<20).map { number in
                Thread(gate, Self.request(user: UInt32(number % users), item: "\(number)")) {
                    let count = displayed.withLock { count in
                        count += 1
                        return count
                    }
                    prompts.increase()
                    if count > 1 { most.increase() }
                    _ = eventually { release.isCancelled }
                    displayed.withLock { $0 -= 1 }
                    return .confirmed(nil)
                }
            }
            #expect(eventually { gate.openCount == 20 && prompts.value == users })
            release.request()
            for thread in threads { #expect(thread.outcome == .confirmed(nil)) }
            #expect(prompts.value == 20)
            #expect(users == 20 || most.value == 0)
        }
    }

    @Test("The thread of an ended client stops waiting, and its prompt moves to an equal question")
    func cancellation() {
        let (gate, prompts, leaving) = (PromptGate(), EventCount(), Cancellation())
        let first = Thread(gate, Self.request()) {
            prompts.increase()
            _ = eventually { leaving.isCancelled }
            return .cancelled
        }
        #expect(eventually { prompts.value == 1 })
        let second = Thread(gate, Self.request()) { .confirmed(text: "secret") }
        let waiting = Thread(gate, Self.request(item: "2")) { .confirmed(nil) }
        #expect(eventually { gate.openCount == 3 })
        waiting.cancellation.request()
        #expect(waiting.outcome == .cancelled)
        first.cancellation.request()
        leaving.request()
        #expect(first.outcome == .cancelled && second.outcome == .confirmed(text: "secret"))
        #expect(gate.openCount == 0)
    }

    @Test("A person's cancellation ends the other questions of the program without a prompt")
    func cancelled() {
        let (gate, prompts, release) = (PromptGate(), EventCount(), Cancellation())
        let first = Thread(gate, Self.request()) {
            prompts.increase()
            _ = eventually { release.isCancelled }
            return .cancelled
        }
        #expect(eventually { prompts.value == 1 })
        let others = (1...5).map { number in
            Thread(gate, Self.request(item: "other \(number)")) {
                prompts.increase()
                return .confirmed(nil)
            }
        }
        #expect(eventually { gate.openCount == 6 })
        release.request()
        for thread in [first] + others { #expect(thread.outcome == .cancelled) }
        #expect(prompts.value == 1)
    }

    @Test("No thread waits after its deadline, and a question with no time left is not displayed")
    func deadline() {
        let clock = Mutex<UInt64>(1_000_000_000_000)
        let gate = PromptGate(clock: BootClock(now: { clock.withLock { $0 } }, identifier: { "" }))
        let (prompts, release) = (EventCount(), Cancellation())
        let first = Thread(gate, Self.request(), until: .max) {
            prompts.increase()
            _ = eventually { release.isCancelled }
            return .timedOut
        }
        #expect(eventually { prompts.value == 1 })
        let waiting = Thread(gate, Self.request(item: "2"), until: 1_010_000_000_000) { .confirmed(nil) }
        let equal = Thread(gate, Self.request(), until: 1_020_000_000_000) { .confirmed(nil) }
        #expect(eventually { gate.openCount == 3 })
        clock.withLock { $0 = 1_010_000_000_000 }
        #expect(waiting.outcome == .timedOut)
        clock.withLock { $0 = 1_019_500_000_000 }
        release.request()
        #expect(first.outcome == .timedOut && equal.outcome == .timedOut)
        #expect(gate.openCount == 0)
    }

    @Test("Ten seconds after two cancellations, by the clock, a program may ask again")
    func silenced() {
        let clock = Mutex<UInt64>(1_000_000_000_000)
        let gate = PromptGate(clock: BootClock(now: { clock.withLock { $0 } }, identifier: { "" }))
        func ask() -> (PresenceOutcome, Bool) {
            var isDisplayed = false
            let outcome = gate.ask(Self.request(), until: .max, cancellation: Cancellation()) {
                isDisplayed = true
                return .cancelled
            }
            return (outcome, isDisplayed)
        }
        for isDisplayed in [true, true, false, false] { #expect(ask() == (.cancelled, isDisplayed)) }
        clock.withLock { $0 += 10_000_000_000 }
        for isDisplayed in [true, true, false] { #expect(ask() == (.cancelled, isDisplayed)) }
    }

    // MARK: Support

    private static func request(user: UInt32 = 1, item: String = "1") -> PresenceRequest {
        PresenceRequest(
            .passcode, user: user, program: CallerIdentity(executable: "/usr/bin/example"),
            subject: .item(label: "Example", identifier: item), place: .none)
    }

    /// A thread that asks one question.
    private final class Thread: Sendable {
        let cancellation = Cancellation()
        private let result = Mutex<PresenceOutcome?>(nil)

        init(
            _ gate: PromptGate, _ request: PresenceRequest, until deadline: UInt64? = nil,
            prompt: @escaping @Sendable () -> PresenceOutcome
        ) {
            let deadline = deadline ?? BootClock.system.now() + 600_000_000_000
            BackgroundThread.run { [self] in
                let outcome = gate.ask(request, until: deadline, cancellation: cancellation, prompt: prompt)
                result.withLock { $0 = outcome }
            }
        }

        /// Waits for the outcome; nil if there is none.
        var outcome: PresenceOutcome? {
            _ = eventually { result.withLock { $0 != nil } }
            return result.withLock { $0 }
        }
    }
}
