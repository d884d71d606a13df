// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
import LinuxSystem
import Presence
import SecretMemory
import Testing

/// Agents that are connected to a server.
@Suite("Agents of a server")
struct AgentServerTests {
    /// A server that asks by agents, with a keychain that has a passcode.
    private final class Fixture {
        let directory: TemporaryDirectory
        let desk = AgentDesk()
        let server: KeychainServer
        let caller = CallerIdentity(executable: "/usr/bin/example")

        init(asksItself: Bool = false) throws {
            directory = try TemporaryDirectory()
            let provider = HomeProvider(
                user: geteuid(), home: KeychainHome(root: directory.path), presence: desk.presence)
            server = try KeychainServer(
                provider, reader: CallerReader(commands: [], entitlements: nil), agents: asksItself ? nil : desk)
        }

        deinit { server.stop(timeout: 60) }

        func client(as caller: CallerIdentity? = nil) throws -> RawClient {
            let (ownEnd, peerEnd) = try Socket.pair()
            server.serve(peerEnd, as: caller ?? self.caller)
            let client = RawClient(ownEnd)
            try client.hello()
            return client
        }

        /// A connection that waits for questions.
        func agent() throws -> RawClient {
            let agent = try client()
            try agent.send(WatchQuestions())
            #expect(try agent.nextEvent() == .registered)
            return agent
        }

        /// Requests an authentication by the owner, and returns the client for its outcome.
        func authenticate() throws -> RawClient {
            let program = try client()
            guard case .content(let context as ContextHandle) = try program.ask(CreateContext()) else {
                throw Failure(problem: "no context")
            }
            try program.send(
                Authenticate(
                    for: .policy(.owner), in: context.id,
                    prompt: AuthenticationPrompt(reason: "to log in", place: PresenceRequest.sample().place)))
            return program
        }
    }

    private struct Failure: Error { let problem: String }

    @Test(
        "A program's authentication is asked by the agent, again after a wrong passcode, and succeeds with the right one"
    )
    func authenticated() throws {
        let fixture = try Fixture()
        #expect(try fixture.client().ask(SetPasscode(Samples.secret("the right one"))).problem == nil)
        let (agent, answers) = (try fixture.agent(), try fixture.client())
        let program = try fixture.authenticate()

        let first = try agent.nextQuestion()
        let request = first.request(for: geteuid())
        #expect(request.factor == .passcode && request.reason == "to log in" && request.subject == .keychain)
        #expect(request.program.executable == "/usr/bin/example" && request.program.process?.process == getpid())
        #expect(request.place == PresenceRequest.sample().place && request.previousFailure == nil)
        #expect(try answers.ask(AnswerQuestion(first.number, with: .confirmed(text: "a wrong one"))).problem == nil)

        let second = try agent.nextQuestion()
        #expect(second.request(for: 0).previousFailure == .wrongSecret(attemptsLeft: 2))
        #expect(try answers.ask(AnswerQuestion(second.number, with: .confirmed(text: "the right one"))).problem == nil)
        #expect(try program.receive()?.problem == nil)
    }

    @Test("Without an agent, an authentication ends at once, and the hint starts one")
    func noAgent() throws {
        let fixture = try Fixture()
        #expect(try fixture.client().ask(SetPasscode(Samples.secret("the right one"))).problem == nil)
        let error = try #require(try fixture.authenticate().receive()?.problem)
        #expect(error.status == .interactionNotAllowed && error.authentication == .failed(.notInteractive))
        #expect(error.hint?.contains("latchkey agent") == true)
    }

    @Test("An agent that disconnects during a question gives it to the next one; the last one ends it")
    func agentDies() throws {
        let fixture = try Fixture()
        var first: RawClient? = try fixture.agent()
        var second: RawClient? = try fixture.agent()
        let asking = try AgentAsking(fixture.desk, .sample(user: geteuid()))
        let question = try first?.nextQuestion()
        // The end of the object closes the connection.
        first = nil
        #expect(try second?.nextQuestion() == question)
        second = nil
        guard case .unavailable = asking.outcome() else {
            Issue.record("the question must be unavailable")
            return
        }
        #expect(eventually { fixture.desk.load == (0, 0) })
    }

    @Test("The end of the program that waits withdraws the question from the agent")
    func programDies() throws {
        let fixture = try Fixture()
        #expect(try fixture.client().ask(SetPasscode(Samples.secret("the right one"))).problem == nil)
        let agent = try fixture.agent()
        var program: RawClient? = try fixture.authenticate()
        let number = try agent.nextQuestion().number
        #expect(program != nil)
        program = nil
        #expect(try agent.nextEvent() == .withdrawn(number))
        let late = try fixture.client().ask(AnswerQuestion(number, with: .confirmed(text: "the right one")))
        #expect(late.problem?.status == .param)
    }

    @Test("A question to another user does not reach an agent")
    func otherUser() throws {
        let fixture = try Fixture()
        let agent = try fixture.agent()
        let other = geteuid() + 1
        let outcome = AgentPrompt(fixture.desk).ask(.sample(user: other), until: .max, cancellation: Cancellation())
        #expect(outcome == .unavailable(.noAgent))
        // The next event is the agent's own question.
        let asking = try AgentAsking(fixture.desk, .sample(user: geteuid()))
        let question = try agent.nextQuestion()
        #expect(try fixture.client().ask(AnswerQuestion(question.number, with: .cancelled)).problem == nil)
        #expect(asking.outcome() == .cancelled)
    }

    @Test(
        "A program in a sandbox is neither an agent nor does it answer",
        arguments: [CallerIdentity.Sandbox.unidentified, .application(group: "flatpak.x")])
    func sandboxed(_ sandbox: CallerIdentity.Sandbox) throws {
        let fixture = try Fixture()
        let agent = try fixture.agent()
        let asking = try AgentAsking(fixture.desk, .sample(user: geteuid()))
        let number = try agent.nextQuestion().number
        let caller = CallerIdentity(executable: "/usr/bin/example", sandbox: sandbox)
        for operation in [WatchQuestions(), AnswerQuestion(number, with: .denied)] as [any KeychainOperation] {
            #expect(try fixture.client(as: caller).ask(operation).problem?.status == .missingEntitlement)
        }
        #expect(!asking.isAnswered && fixture.desk.load == (1, 1))
        asking.cancellation.request()
        #expect(asking.outcome() == .cancelled)
    }

    @Test("A fifth agent of a user is refused, and a daemon that asks itself has none")
    func refused() throws {
        let fixture = try Fixture()
        var agents = try (0..<AgentDesk.maxAgentsPerUser).map { _ in try fixture.agent() }
        #expect(try fixture.client().ask(WatchQuestions()).problem?.status == .notAvailable)
        agents.removeFirst()
        #expect(eventually { fixture.desk.load.agents == AgentDesk.maxAgentsPerUser - 1 })
        _ = try fixture.agent()

        let own = try Fixture(asksItself: true)
        #expect(try own.client().ask(WatchQuestions()).problem?.status == .notAvailable)
        #expect(try own.client().ask(AnswerQuestion(1, with: .denied)).problem?.status == .notAvailable)
        withExtendedLifetime(agents) {}
    }

    @Test("Twenty open questions do not block other clients")
    func others() throws {
        let fixture = try Fixture()
        let (agent, answers) = (try fixture.agent(), try fixture.client())
        let open = try (0..<20).map { _ in try AgentAsking(fixture.desk, .sample(user: geteuid())) }
        let numbers = try open.map { _ in try agent.nextQuestion().number }
        for number in 0..<50 {
            #expect(try fixture.client().ask(AddItem(Items.addition("a\(number)"))).problem == nil)
        }
        #expect(open.allSatisfy { !$0.isAnswered })
        for number in numbers { #expect(try answers.ask(AnswerQuestion(number, with: .denied)).problem == nil) }
        for asking in open { #expect(asking.outcome() == .denied) }
    }

    @Test("A secret that is too long or empty ends the connection, and answers nothing", arguments: [0, 4097])
    func lengths(_ count: Int) throws {
        let fixture = try Fixture()
        let agent = try fixture.agent()
        let asking = try AgentAsking(fixture.desk, .sample(user: geteuid()))
        let number = try agent.nextQuestion().number
        let secret = SharedSecret(copying: [UInt8](repeating: 1, count: count))
        let hostile = try fixture.client()
        #expect(try hostile.ask(AnswerQuestion(number, with: .confirmed(secret))).problem?.status == .decode)
        #expect(try hostile.receive() == nil && !asking.isAnswered)
        asking.cancellation.request()
        #expect(asking.outcome() == .cancelled)
    }

    @Test("A server that stops ends the questions and the agents")
    func stopped() throws {
        let fixture = try Fixture()
        let agent = try fixture.agent()
        let asking = try AgentAsking(fixture.desk, .sample(user: geteuid()))
        _ = try agent.nextQuestion()
        fixture.server.stop(timeout: 60)
        guard case .unavailable = asking.outcome() else {
            Issue.record("the question must be unavailable")
            return
        }
        #expect(fixture.desk.load == (0, 0))
    }
}

extension RawClient {
    /// Receives the next event of an agent; nil for another response.
    fileprivate func nextEvent() throws -> AgentEvent? {
        guard case .content(let event as AgentEvent)? = try receive() else { return nil }
        return event
    }

    fileprivate func nextQuestion() throws -> AgentQuestion {
        guard case .question(let question)? = try nextEvent() else { throw WireError.ended }
        return question
    }
}
