// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem
public import Presence

/// Asks with the pinentry that fits the display or the terminal of this process.
public struct PinentryAsker: Sendable {
    private let methods: PresenceMethods
    private let place: @Sendable () -> PromptPlace

    /// - Parameter place: where the person can be asked; nil for the place of this process.
    public init(_ methods: PresenceMethods = PresenceMethods(), at place: (@Sendable () -> PromptPlace)? = nil) {
        self.methods = methods
        self.place = place ?? { PromptPlace.ofThisProcess() }
    }

    /// - Parameter terminal: the terminal for the questions; nil for that of this process.
    init(terminal: String?) { self.init(at: { .ofThisProcess(terminal: terminal) }) }

    func ask(_ question: SecretQuestion, cancellation: Cancellation) -> SecretAnswer {
        switch question.kind {
        case .newPasscode:
            return .unavailable(
                reason: "pinentry is not used for a new passcode", hint: "latchkey passcode change")
        case .passcode:
            let request = PresenceRequest(
                .passcode, user: geteuid(), program: question.program, subject: .keychain, place: place(),
                previousFailure: question.attemptsLeft.map {
                    PresenceRequest.PreviousFailure.wrongSecret(attemptsLeft: $0)
                })
            return answer(ask(request, cancellation))
        case .consent(let subject): return askForConsent(subject, question, cancellation)
        }
    }

    /// Asks whether the program may read the items, and then whether the answer is kept. There is one
    /// button for a yes: some programs of the family report a cancelled question as that of the second one.
    private func askForConsent(
        _ subject: ConsentSubject, _ question: SecretQuestion, _ cancellation: Cancellation
    ) -> SecretAnswer {
        var request = PresenceRequest(
            .confirmation, user: geteuid(), program: question.program,
            subject: .item(label: question.label, identifier: question.label), place: place())
        request.words = subject.permission
        let outcome = ask(request, cancellation)
        guard case .confirmed = outcome else { return answer(outcome) }
        guard subject.canBeKept else { return .allowed(isKept: false) }
        request.words = subject.memory
        guard case .confirmed = ask(request, cancellation) else { return .allowed(isKept: false) }
        return .allowed(isKept: true)
    }

    private func ask(_ request: PresenceRequest, _ cancellation: Cancellation) -> PresenceOutcome {
        methods.ask(request, until: BootClock.system.now() &+ Self.timeout, cancellation: cancellation)
    }

    private func answer(_ outcome: PresenceOutcome) -> SecretAnswer {
        switch outcome {
        case .confirmed(let secret?): .typed(secret)
        case .timedOut: .timedOut
        case .unavailable(let reason): .unavailable(reason: reason.problem, hint: "latchkey unlock")
        case .confirmed, .recognized, .fallback, .denied, .cancelled: .cancelled
        }
    }

    /// Ten minutes, in nanoseconds: clients wait for a prompt as long as it takes.
    private static let timeout: UInt64 = 600_000_000_000
}

extension ConsentSubject {
    /// The words of the first question.
    fileprivate var permission: ConfirmationWords {
        ConfirmationWords(
            question: "Latchkey: a program wants to read an item of your keychain.",
            notes: (others.map { [$0] } ?? []) + Self.claim + [Self.cost], accept: "Allow", deny: "Refuse")
    }

    /// The words of the second one.
    fileprivate var memory: ConfirmationWords {
        ConfirmationWords(
            question: "Latchkey: the program may read it now. Is it also allowed from now on?",
            notes: [Self.everyItem], accept: "From now on", deny: "Only now")
    }
}
