// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
@testable import LatchkeyServer
import LinuxSystem
import Presence
import SecretMemory
import Synchronization
import Testing

/// The agents that get questions, and the answers that count.
@Suite("Agents and their questions")
struct AgentDeskTests {
    private let desk = AgentDesk()
    private let first = CallerIdentity.ProcessIdentity(user: 1000, process: 1)
    private let second = CallerIdentity.ProcessIdentity(user: 1000, process: 2)
    private let stranger = CallerIdentity.ProcessIdentity(user: 1001, process: 1)

    @Test("A question reaches an agent of its user, and the typed text is the answer")
    func answered() throws {
        let (agent, other) = (try desk.register(first), try desk.register(stranger))
        let asking = try AgentAsking(desk, .sample())
        let question = try #require(agent.nextQuestion())
        #expect(question.request(for: 1000) == .sample())
        try desk.answer(question.number, with: .confirmed(text: "secret"), from: first)
        #expect(asking.outcome() == .confirmed(text: "secret"))
        #expect(other.take().isEmpty && desk.load == (2, 0))
    }

    @Test("Without an agent of its user, a question is unavailable at once, and the hint starts one")
    func noAgent() throws {
        _ = try desk.register(stranger)
        let prompt = AgentPrompt(desk)
        #expect(prompt.unavailability(for: 1000, at: PresenceRequest.sample().place) == .noAgent)
        #expect(prompt.ask(.sample(), until: .max, cancellation: Cancellation()) == .unavailable(.noAgent))
        #expect(PresenceUnavailability.noAgent.hint.contains("systemctl --user enable --now latchkey-agent"))
        #expect(PresenceUnavailability.noAgent.hint.contains("latchkey agent"))
        // An agent could not ask there either.
        #expect(prompt.unavailability(for: 1000, at: .none) == .noPlace(ignored: []))
    }

    @Test("An agent that ends gives its question to the next one; if there is none, the question ends")
    func handedOver() throws {
        let agents = (try desk.register(first), try desk.register(second))
        let asking = try AgentAsking(desk, .sample())
        let question = try #require(agents.0.nextQuestion())
        desk.remove(agents.0)
        #expect(agents.1.nextQuestion() == question)
        #expect(throws: KeychainError.self, "the first process is not asked any more") {
            try desk.answer(question.number, with: .confirmed(text: "late"), from: first)
        }
        #expect(!asking.isAnswered)
        desk.remove(agents.1)
        guard case .unavailable(.agentFailed(let problem, _)) = asking.outcome() else {
            Issue.record("the question must be unavailable")
            return
        }
        #expect(problem == "the agent ended before the person had answered")
        #expect(desk.load == (0, 0))
    }

    @Test("An agent that has ended gets no question, also before its connection is removed")
    func endedAgent() throws {
        let isConnected = Atomic(true)
        let agents = (
            try desk.register(first) { isConnected.load(ordering: .relaxed) }, try desk.register(second)
        )
        isConnected.store(false, ordering: .relaxed)
        let asking = try AgentAsking(desk, .sample())
        let question = try #require(agents.1.nextQuestion())
        try desk.answer(question.number, with: .denied, from: second)
        #expect(asking.outcome() == .denied && agents.0.take().isEmpty)
        desk.remove(agents.1)
        #expect(AgentPrompt(desk).unavailability(for: 1000, at: PresenceRequest.sample().place) == .noAgent)
    }

    @Test("Agents that end one after the other get a question a limited number of times")
    func handoversAreLimited() throws {
        var current = try desk.register(first)
        let asking = try AgentAsking(desk, .sample())
        var wasAsked = current.nextQuestion() != nil
        var count = 0
        while wasAsked {
            count += 1
            let next = try desk.register(first)
            desk.remove(current)
            wasAsked = !next.take().isEmpty
            current = next
        }
        #expect(count == 1 + AgentDesk.maxAgentsPerUser)
        #expect(asking.outcome() != .confirmed(nil))
    }

    @Test("An answer to another number, of another process or user, or a second one is refused")
    func refusedAnswers() throws {
        let agent = try desk.register(first)
        let asking = try AgentAsking(desk, .sample())
        let number = try #require(agent.nextQuestion()).number
        for (number, process) in [(number + 1, first), (0, first), (number, second), (number, stranger)] {
            let error = #expect(throws: KeychainError.self) {
                try desk.answer(number, with: .confirmed(text: "no"), from: process)
            }
            #expect(error?.status == .param)
        }
        #expect(!asking.isAnswered)
        try desk.answer(number, with: .denied, from: first)
        #expect(throws: KeychainError.self) { try desk.answer(number, with: .confirmed(text: "no"), from: first) }
        #expect(asking.outcome() == .denied)
    }

    @Test("A question that no program waits for is withdrawn from its agent", arguments: [true, false])
    func withdrawn(_ isReceived: Bool) throws {
        let agent = try desk.register(first)
        let asking = try AgentAsking(desk, .sample())
        #expect(eventually { desk.load.questions == 1 })
        let number = isReceived ? try #require(agent.nextQuestion()).number : 0
        asking.cancellation.request()
        #expect(asking.outcome() == .cancelled)
        // An agent that had not received the question is told nothing.
        #expect(agent.take() == (isReceived ? [.withdrawn(number)] : []))
        #expect(throws: KeychainError.self) { try desk.answer(number, with: .confirmed(text: "late"), from: first) }
    }

    @Test("A question without an answer times out", .long)
    func timedOut() throws {
        let agent = try desk.register(first)
        let now = BootClock.system.now()
        #expect(desk.ask(.sample(), until: now, cancellation: Cancellation()) == .timedOut)
        let outcome = desk.ask(.sample(), until: now + 1_000_000, cancellation: Cancellation())
        #expect(outcome == .timedOut && desk.load == (1, 0))
        withExtendedLifetime(agent) {}
    }

    @Test("The agents of a user and of all users, and the open questions of a user, have a limit")
    func limits() throws {
        var agents: [WaitingAgent] = []
        for user in 0..<UInt32(AgentDesk.maxAgents / AgentDesk.maxAgentsPerUser) {
            for process in 0..<Int32(AgentDesk.maxAgentsPerUser) {
                agents.append(try desk.register(CallerIdentity.ProcessIdentity(user: user, process: process)))
            }
        }
        for user in [0, 5000] as [UInt32] {
            let error = #expect(throws: KeychainError.self) {
                try desk.register(CallerIdentity.ProcessIdentity(user: user, process: 9))
            }
            #expect(error?.status == .notAvailable)
        }
        desk.remove(try #require(agents.last))
        // A second removal has no effect.
        desk.remove(try #require(agents.last))
        #expect(desk.load.agents == AgentDesk.maxAgents - 1)
        _ = try desk.register(CallerIdentity.ProcessIdentity(user: 5000, process: 9))

        let questions = try (0..<AgentDesk.maxQuestionsPerUser).map { _ in try AgentAsking(desk, .sample()) }
        #expect(eventually { desk.load.questions == questions.count })
        #expect(
            desk.ask(.sample(), until: .max, cancellation: Cancellation())
                == .unavailable(.tooManyQuestions(limit: AgentDesk.maxQuestionsPerUser)))
        for question in questions { question.cancellation.request() }
        for question in questions { #expect(question.outcome() == .cancelled) }
    }

    @Test(
        "An answer fits the factor: a confirmation has no secret, and a secret that is missing is a no",
        arguments: [
            (PresenceFactor.confirmation, true, PresenceOutcome.confirmed(nil)),
            (.confirmation, false, .confirmed(nil)), (.passcode, true, .confirmed(text: "secret")),
            (.passcode, false, .denied), (.newApplicationPassword, false, .denied),
        ])
    func factors(_ factor: PresenceFactor, _ hasSecret: Bool, _ expected: PresenceOutcome) throws {
        let agent = try desk.register(first)
        let asking = try AgentAsking(AgentPrompt(desk), .sample(factor))
        let question = try #require(agent.nextQuestion())
        try desk.answer(question.number, with: hasSecret ? .confirmed(text: "secret") : .confirmed(nil), from: first)
        #expect(asking.outcome() == expected)
    }

    @Test("An agent is never asked for a finger")
    func fingers() throws {
        let agent = try desk.register(first)
        let outcome = AgentPrompt(desk).ask(.sample(.fingerprint), until: .max, cancellation: Cancellation())
        #expect(outcome == .unavailable(.noMethod(.fingerprint)))
        #expect(agent.take().isEmpty)
    }
}
