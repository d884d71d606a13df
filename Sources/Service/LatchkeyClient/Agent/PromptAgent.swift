// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem
public import Presence
internal import Synchronization

/// Asks the user of this process for the system's latchkeyd, because latchkeyd has neither a terminal nor a display:
/// the work of `latchkey agent`.
///
/// The agent displays the questions of latchkeyd, and returns the input of the person. It verifies nothing; latchkeyd
/// does.
public final class PromptAgent: Sendable {
    private struct State {
        /// The connection that delivers the questions.
        var connection: DaemonConnection?
        var isStopping = false
        /// The questions that are asked now.
        var questions: [UInt64: Cancellation] = [:]
    }

    private let client: DaemonClient
    private let methods: PresenceMethods
    private let state = SystemMutex(State())

    /// An agent for the system's latchkeyd.
    ///
    /// - Parameter methods: the ways to ask the person.
    public convenience init(methods: PresenceMethods = PresenceMethods()) {
        let discovery = DaemonDiscovery(
            environment: { SecureEnvironment.value(of: $0) }, claim: { KeychainClient.caller },
            automaticPasscode: { () throws(KeychainError) in nil })
        self.init(discovery.systemConnector, methods: methods)
    }

    package init(_ connector: any DaemonConnector, methods: PresenceMethods) {
        client = DaemonClient(connector) { KeychainClient.caller }
        self.methods = methods
    }

    // MARK: Running

    /// Asks until ``stop()``. If latchkeyd restarts, the agent connects again.
    ///
    /// - Parameter whenRegistered: called when latchkeyd asks this agent from now on.
    /// - Throws: errSecNotAvailable if latchkeyd does not answer, needs no agents, or has enough of
    ///   them; errSecMissingEntitlement for a program in a sandbox.
    public func run(whenRegistered: () -> Void) throws(KeychainError) {
        defer { cancelAll() }
        while !isStopping {
            var wasRegistered = false
            do throws(KeychainError) {
                try serve {
                    wasRegistered = true
                    whenRegistered()
                }
            } catch {
                guard !isStopping else { return }
                // The connection was lost; the next one is made as soon as latchkeyd answers again.
                guard wasRegistered, error.status == .io else { throw error }
            }
            cancelAll()
        }
    }

    /// Ends the agent, and the questions that it displays. May be called on any thread.
    public func stop() {
        let connection = state.withLock { state in
            state.isStopping = true
            return state.connection
        }
        connection?.cancel()
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Receives questions over one connection, until it ends.
    private func serve(whenRegistered: () -> Void) throws(KeychainError) {
        try client.withConnection { (connection) throws(DaemonConnection.Failure) in
            let isStopping = state.withLock { state in
                state.connection = connection
                return state.isStopping
            }
            defer { state.withLock { $0.connection = nil } }
            guard !isStopping else { return }
            try connection.exchange(NumberedRequest(number: client.nextNumber(), WatchQuestions())) {
                (response) throws(KeychainError) in
                guard case .content(let content) = response else { throw .unexpectedResponse }
                // latchkeyd is stopping.
                if content is Done { return true }
                switch content as? AgentEvent {
                case .registered?: whenRegistered()
                case .question(let question)?: begin(question)
                case .withdrawn(let number)?: state.withLock { $0.questions[number] }?.request()
                case nil: throw .unexpectedResponse
                }
                return false
            }
        }
    }

    // MARK: Questions

    /// Asks on another thread, because a question may be withdrawn meanwhile.
    private func begin(_ question: AgentQuestion) {
        let cancellation = Cancellation()
        let isNew = state.withLock { state in
            guard state.questions[question.number] == nil, state.questions.count < Self.maxQuestions else {
                return false
            }
            state.questions[question.number] = cancellation
            return true
        }
        guard isNew else { return answer(question, .unavailable(.tooManyQuestions(limit: Self.maxQuestions))) }
        let isRunning = BackgroundThread.run { [self] in
            let deadline = BootClock.system.now() &+ UInt64(question.seconds) &* 1_000_000_000
            // Only the user of this process, even if latchkeyd requests another one.
            let outcome = methods.ask(question.request(for: geteuid()), until: deadline, cancellation: cancellation)
            if !cancellation.isCancelled { answer(question, outcome) }
            state.withLock { _ = $0.questions.removeValue(forKey: question.number) }
        }
        guard !isRunning else { return }
        state.withLock { _ = $0.questions.removeValue(forKey: question.number) }
        answer(question, .unavailable(.agentFailed(problem: "the agent cannot start a thread", hint: "try again")))
    }

    private func answer(_ question: AgentQuestion, _ outcome: PresenceOutcome) {
        // An answer that comes too late is refused. If latchkeyd is away, it has forgotten the
        // question.
        _ = try? client.perform(AnswerQuestion(question.number, with: outcome))
    }

    /// Ends all questions, and waits until the terminals are restored.
    private func cancelAll() {
        for cancellation in state.withLock({ Array($0.questions.values) }) { cancellation.request() }
        let deadline = BootClock.system.now() &+ Self.endTimeout
        while state.withLock({ !$0.questions.isEmpty }), BootClock.system.now() < deadline { usleep(2000) }
    }

    /// The number of questions at a time; one of them is displayed. latchkeyd opens no more for a
    /// user.
    private static let maxQuestions = 64
    /// How long to wait for programs that prompt to end: five seconds, in nanoseconds.
    private static let endTimeout: UInt64 = 5_000_000_000
}
