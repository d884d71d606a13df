// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import Synchronization
import Testing

/// Questions that are displayed while a sensor waits.
@Suite("Prompts of a sensor")
struct SensorPromptTests {
    private let display = Display()
    private let gate = PromptGate()
    private let methods: PresenceMethods
    private let match: BiometricMatch

    init() throws {
        methods = PresenceMethods([display], gate: gate)
        let digest = [UInt8](repeating: 1, count: EnrolledSet.digestLength)
        match = BiometricMatch(recognizedAgainst: try #require(EnrolledSet(digest: digest)))
    }

    @Test("The sensor waits while the question is displayed, and the display disappears with its answer")
    func recognized() {
        let outcome = ask { _ in
            #expect(eventually { display.isShown })
            return .recognized(match)
        }
        #expect(outcome == .recognized(match))
        #expect(!display.isShown && display.failures.all == [nil])
    }

    @Test(
        "A button of the display ends the wait, and its outcome precedes a finger that matches at the same time",
        arguments: [
            (PresenceOutcome.cancelled, PresenceOutcome.cancelled), (.denied, .cancelled),
            (.confirmed(nil), .cancelled), (.fallback, .fallback), (.timedOut, .timedOut),
            (.unavailable(.noAgent), .unavailable(.noAgent)),
        ])
    func buttons(_ pressed: PresenceOutcome, _ expected: PresenceOutcome) {
        let outcome = ask { prompt in
            #expect(eventually { display.isShown })
            display.press(pressed)
            #expect(eventually { prompt.cancellation.isCancelled })
            return .recognized(match)
        }
        #expect(outcome == expected)
    }

    @Test("A miss is shown, and the wait continues")
    func miss() {
        let outcome = ask { prompt in
            #expect(eventually { display.isShown })
            prompt.show(.notRecognized)
            #expect(eventually { display.failures.all == [nil, .notRecognized] && display.isShown })
            #expect(!prompt.cancellation.isCancelled)
            return .recognized(match)
        }
        #expect(outcome == .recognized(match))
    }

    @Test("Without a display, and for a program that has gone, the sensor is not used")
    func notDisplayed() {
        let sensor = EventCount()
        display.unavailability = .noPlace(ignored: [])
        let outcome = ask { _ in
            sensor.increase()
            return .recognized(match)
        }
        #expect(outcome == .unavailable(.noPlace(ignored: [])))
        display.unavailability = nil
        let cancellation = Cancellation()
        cancellation.request()
        let cancelled = ask(cancellation: cancellation) { _ in
            sensor.increase()
            return .recognized(match)
        }
        #expect(cancelled == .cancelled && sensor.value == 0)
    }

    @Test("The end of the program ends the wait and the display")
    func gone() {
        let cancellation = Cancellation()
        let outcome = ask(cancellation: cancellation) { prompt in
            #expect(eventually { display.isShown })
            cancellation.request()
            #expect(prompt.cancellation.isCancelled)
            return .cancelled
        }
        #expect(outcome == .cancelled && !display.isShown)
    }

    @Test("Five equal questions at once are displayed once, and one finger answers all of them")
    func equal() {
        let (sensor, answers) = (EventCount(), Collected<PresenceOutcome>())
        for _ in 1...5 {
            BackgroundThread.run { [self] in
                answers.append(
                    ask { _ in
                        sensor.increase()
                        #expect(eventually { display.isShown && gate.openCount == 5 })
                        return .recognized(match)
                    })
            }
        }
        #expect(eventually { answers.all.count == 5 })
        #expect(answers.all == Array(repeating: .recognized(match), count: 5))
        #expect(sensor.value == 1 && display.failures.all.count == 1)
    }

    @Test("After two cancellations, the sensor is not used for the program, and nothing is displayed")
    func silenced() {
        let sensor = EventCount()
        for _ in 1...4 {
            let outcome = ask { prompt in
                sensor.increase()
                #expect(eventually { display.isShown })
                display.press(.cancelled)
                #expect(eventually { prompt.cancellation.isCancelled })
                return .cancelled
            }
            #expect(outcome == .cancelled)
        }
        #expect(sensor.value == 2 && display.failures.all.count == 2)
    }

    // MARK: Support

    private func ask(
        cancellation: Cancellation = Cancellation(), sensor: (SensorPrompt) -> PresenceOutcome
    ) -> PresenceOutcome {
        methods.ask(
            .sample(.fingerprint, place: .none), until: BootClock.system.now() + 600_000_000_000,
            cancellation: cancellation, sensor: sensor)
    }

    /// A method that displays until a button is pressed.
    private final class Display: PresenceMethod {
        private struct State {
            var isShown = false
            var pressed: PresenceOutcome?
            var unavailability: PresenceUnavailability?
        }

        let name = "display"
        let factors: Set<PresenceFactor> = [.fingerprint]
        /// The failures that the displayed questions named, in their order.
        let failures = Collected<PresenceRequest.PreviousFailure?>()
        private let state = Mutex(State())

        var isShown: Bool { state.withLock { $0.isShown } }
        var unavailability: PresenceUnavailability? {
            get { state.withLock { $0.unavailability } }
            set { state.withLock { $0.unavailability = newValue } }
        }

        func press(_ outcome: PresenceOutcome) { state.withLock { $0.pressed = outcome } }

        func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? { unavailability }

        func ask(
            _ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation
        ) -> PresenceOutcome {
            failures.append(request.previousFailure)
            state.withLock { $0.isShown = true }
            defer { state.withLock { $0.isShown = false } }
            var pressed: PresenceOutcome?
            _ = eventually {
                pressed = state.withLock { $0.pressed.take() }
                return pressed != nil || cancellation.isCancelled
            }
            return pressed ?? .cancelled
        }
    }
}
