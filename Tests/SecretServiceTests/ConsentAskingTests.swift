// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LinuxSystem
import Presence
@testable import SecretService
import Synchronization
import SystemBus
import Testing

/// The questions to the person about reading, and their wording.
@Suite("Questions about reading")
struct ConsentAskingTests {
    /// Answers each question with the next outcome.
    private final class FakeMethod: PresenceMethod {
        let name = "fake"
        let factors: Set<PresenceFactor> = [.confirmation]
        private let outcomes: Mutex<[PresenceOutcome]>
        private let asked = Mutex<[PresenceRequest]>([])

        init(_ outcomes: [PresenceOutcome]) { self.outcomes = Mutex(outcomes) }

        var requests: [PresenceRequest] { asked.withLock { $0 } }

        func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? { nil }

        func ask(
            _ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation
        ) -> PresenceOutcome {
            asked.withLock { $0.append(request) }
            return outcomes.withLock { outcomes -> PresenceOutcome in
                outcomes.isEmpty ? .timedOut : outcomes.removeFirst()
            }
        }
    }

    private static let answers: [([PresenceOutcome], String)] = [
        ([.confirmed(nil), .confirmed(nil)], "kept"), ([.confirmed(nil), .denied], "once"),
        ([.confirmed(nil), .cancelled], "once"), ([.confirmed(nil), .timedOut], "once"), ([.denied], "refused"),
        ([.cancelled], "refused"), ([.timedOut], "timed out"),
    ]

    private static func question(_ subject: ConsentSubject) -> SecretQuestion {
        SecretQuestion(.consent(subject), label: "mail", program: CallerIdentity(executable: "/usr/bin/mail\u{7}er"))
    }

    @Test(
        "pinentry's second button never allows, and an answer is kept only if the person says so", arguments: answers)
    func pinentry(_ outcomes: [PresenceOutcome], _ expected: String) {
        let method = FakeMethod(outcomes)
        let asker = PinentryAsker(PresenceMethods([method]), at: { .none })
        let answer = asker.ask(
            Self.question(ConsentSubject(count: 1, canBeKept: true)), cancellation: Cancellation())
        let found =
            switch answer {
            case .allowed(isKept: true): "kept"
            case .allowed(isKept: false): "once"
            case .cancelled: "refused"
            case .timedOut: "timed out"
            case .typed, .unavailable: "another answer"
            }
        #expect(found == expected && method.requests.count == outcomes.count)
    }

    @Test("An answer that cannot be kept is one question; without a place to ask, there is none")
    func once() {
        let method = FakeMethod([.confirmed(nil)])
        let question = Self.question(ConsentSubject(count: 100, canBeKept: false))
        let asker = PinentryAsker(PresenceMethods([method]), at: { .none })
        guard case .allowed(isKept: false) = asker.ask(question, cancellation: Cancellation()) else {
            Issue.record("it was not allowed")
            return
        }
        #expect(method.requests.count == 1)
        let none = PinentryAsker(PresenceMethods([]), at: { .none })
        guard case .unavailable = none.ask(question, cancellation: Cancellation()) else {
            Issue.record("it was asked")
            return
        }
    }

    @Test("SECS-14: the question names the program and the item, the limit of its proof and the cost of a refusal")
    func words() throws {
        let method = FakeMethod([.denied])
        let asker = PinentryAsker(PresenceMethods([method]), at: { .none })
        let question = Self.question(ConsentSubject(count: 3, canBeKept: true))
        _ = asker.ask(question, cancellation: Cancellation())
        let pinentry = PromptText(try #require(method.requests.first))
        let properties = DesktopPromptText(question).properties
        func text(_ name: String) -> String { properties[name]?.content(as: String.self) ?? "" }
        let desktop = text("description") + text("warning")
        for words in [
            #"“/usr/bin/mail\x07er”"#, "“mail”", "2 other items", "Only the path of the program is known",
            "mistakes", "a browser deletes the cookies",
        ] {
            #expect(pinentry.description.contains(words), "\(words)")
            #expect(desktop.contains(words), "\(words)")
        }
        #expect(pinentry.accept == "Allow" && pinentry.deny == "Refuse")
        #expect(text("continue-label") == "Allow" && text("choice-label") == "Allow it from now on")
        #expect(pinentry.description.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let single = DesktopPromptText(Self.question(ConsentSubject(count: 1, canBeKept: false))).properties
        #expect(single["choice-label"]?.content(as: String.self) == "")
        #expect(single["description"]?.content(as: String.self)?.contains("other") == false)
    }
}
