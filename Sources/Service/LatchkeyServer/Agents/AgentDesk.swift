// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeychainModel
internal import LatchkeyOperations
public import LatchkeyService
internal import LinuxSystem
internal import Presence

/// The agents of all users, and the questions that they have.
///
/// An agent is a process in the session of a user. It asks the person for a daemon that has neither a terminal nor a
/// display. It gets only questions to its own user. The daemon verifies its answers.
public final class AgentDesk: Sendable {
    private struct State {
        /// The agents of each user, the one that waits longest first.
        var agents: [UInt32: [WaitingAgent]] = [:]
        var count = 0
        var questions: [UInt64: OpenQuestion] = [:]
        var lastNumber: UInt64 = 0

        /// The agent that gets the next question. One that has just ended may still be listed.
        func firstAgent(of user: UInt32) -> WaitingAgent? { agents[user]?.first { $0.isConnected() } }
    }

    private struct OpenQuestion {
        let question: AgentQuestion
        var agent: WaitingAgent
        /// How many more agents may get the question if this one ends.
        var handoversLeft = AgentDesk.maxAgentsPerUser
        /// nil while the agent asks.
        var outcome: PresenceOutcome?
        let answered = DispatchSemaphore(value: 0)
    }

    private let state = SystemMutex(State())

    public init() {}

    /// How a daemon without a session establishes that a person is present.
    public var presence: PresenceSources { PresenceSources(methods: PresenceMethods([AgentPrompt(self)])) }

    /// Whether an agent of the user waits for questions.
    func hasAgent(of user: UInt32) -> Bool { state.withLock { $0.firstAgent(of: user) != nil } }

    // MARK: Agents

    /// Adds an agent. It gets questions until ``remove(_:)``.
    ///
    /// - Throws: errSecNotAvailable if its user, or all users together, have too many.
    func register(
        _ process: CallerIdentity.ProcessIdentity, isConnected: @escaping @Sendable () -> Bool = { true }
    ) throws(KeychainError) -> WaitingAgent {
        let agent: WaitingAgent
        do throws(SystemError) {
            agent = try WaitingAgent(process, isConnected: isConnected)
        } catch {
            throw KeychainError(error)
        }
        let isAdded = state.withLock { state in
            guard (state.agents[process.user]?.count ?? 0) < Self.maxAgentsPerUser, state.count < Self.maxAgents else {
                return false
            }
            state.agents[process.user, default: []].append(agent)
            state.count += 1
            return true
        }
        guard isAdded else {
            throw KeychainError(
                .notAvailable,
                "too many agents are running: a user may have \(Self.maxAgentsPerUser), all users \(Self.maxAgents)",
                hint: "end the agents that are not needed: latchkey agent")
        }
        return agent
    }

    /// Removes an agent that has ended. Its questions are given to the next agent of its user; if
    /// there is none, they end.
    func remove(_ agent: WaitingAgent) {
        state.withLock { state in
            let user = agent.process.user
            guard let known = state.agents[user], known.contains(where: { $0 === agent }) else { return }
            let rest = known.filter { $0 !== agent }
            state.agents[user] = rest.isEmpty ? nil : rest
            state.count -= 1
            for (number, open) in state.questions where open.agent === agent && open.outcome == nil {
                state.questions[number] = Self.handOver(open, to: state.firstAgent(of: user))
            }
        }
    }

    private static func handOver(_ open: OpenQuestion, to next: WaitingAgent?) -> OpenQuestion {
        var open = open
        if let next, open.handoversLeft > 0 {
            open.agent = next
            open.handoversLeft -= 1
            next.put(.question(open.question))
        } else {
            open.outcome = .unavailable(agentEnded)
            open.answered.signal()
        }
        return open
    }

    // MARK: Questions

    /// Gives a question to an agent of the user, and waits for the answer.
    ///
    /// - Parameters:
    ///   - deadline: by `BootClock.system`, in nanoseconds.
    ///   - cancellation: ends the question when it is requested.
    func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        let now = BootClock.system.now()
        guard now < deadline else { return .timedOut }
        let seconds = UInt32(clamping: (deadline &- now) / 1_000_000_000 + 1)
        let opened = state.withLock { state -> Result<(number: UInt64, answered: DispatchSemaphore), Refusal> in
            guard let agent = state.firstAgent(of: request.user) else { return .failure(Refusal(reason: .noAgent)) }
            let count = state.questions.values.count { $0.agent.process.user == request.user }
            guard count < Self.maxQuestionsPerUser else {
                return .failure(Refusal(reason: .tooManyQuestions(limit: Self.maxQuestionsPerUser)))
            }
            state.lastNumber += 1
            let question = AgentQuestion(state.lastNumber, request, seconds: seconds)
            let open = OpenQuestion(question: question, agent: agent)
            state.questions[state.lastNumber] = open
            agent.put(.question(question))
            return .success((state.lastNumber, open.answered))
        }
        switch opened {
        case .failure(let refusal): return .unavailable(refusal.reason)
        case .success(let question):
            return wait(for: question.number, question.answered, until: deadline, cancellation)
        }
    }

    private func wait(
        for number: UInt64, _ answered: DispatchSemaphore, until deadline: UInt64, _ cancellation: Cancellation
    ) -> PresenceOutcome {
        while true {
            _ = answered.wait(timeout: .now() + .milliseconds(Self.cancellationInterval))
            if let outcome = state.withLock({ $0.questions[number]?.outcome }) { return close(number, outcome) }
            if cancellation.isCancelled { return close(number, .cancelled) }
            if BootClock.system.now() >= deadline { return close(number, .timedOut) }
        }
    }

    /// Ends a question. An answer that has arrived takes precedence over `outcome`.
    private func close(_ number: UInt64, _ outcome: PresenceOutcome) -> PresenceOutcome {
        state.withLock { state in
            guard let open = state.questions.removeValue(forKey: number) else { return outcome }
            if let answer = open.outcome { return answer }
            open.agent.withdraw(number)
            return outcome
        }
    }

    /// Answers a question that the process was asked.
    ///
    /// - Throws: errSecParam if no such question waits for an answer of this process.
    func answer(
        _ number: UInt64, with outcome: PresenceOutcome, from process: CallerIdentity.ProcessIdentity
    ) throws(KeychainError) {
        let isAccepted = state.withLock { state in
            guard var open = state.questions[number], open.outcome == nil, open.agent.process == process else {
                return false
            }
            open.outcome = outcome
            state.questions[number] = open
            open.answered.signal()
            return true
        }
        guard isAccepted else {
            throw KeychainError(
                .param, "no question \(number) waits for an answer of this process",
                hint: "a question may have been withdrawn; wait for the next one")
        }
    }

    /// The numbers of agents and of open questions; for tests.
    var load: (agents: Int, questions: Int) { state.withLock { ($0.count, $0.questions.count) } }

    // MARK: Limits

    private struct Refusal: Error { let reason: PresenceUnavailability }

    static let maxAgentsPerUser = 4
    static let maxAgents = 4096
    static let maxQuestionsPerUser = 64
    /// In milliseconds.
    private static let cancellationInterval = 50
    private static let agentEnded = PresenceUnavailability.agentFailed(
        problem: "the agent ended before the person had answered", hint: "try again")
}
