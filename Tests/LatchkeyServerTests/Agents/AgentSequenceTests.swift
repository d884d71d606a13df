// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
@testable import LatchkeyServer
import LinuxSystem
import Presence
import SecretMemory
import Testing

/// Agents that come, go and answer, programs that ask and give up, in random orders.
@Suite("Sequences of agents and questions")
struct AgentSequenceTests {
    @Test("In any order, a question gets only an answer of an agent of its user that had it", .long, arguments: 1...40)
    func sequence(_ seed: UInt64) throws {
        var run = Run(seed: seed)
        for _ in 0..<150 { try run.step() }
        try run.end()
    }

    /// One sequence. An agent's answer contains its user and the number of the question.
    private struct Run {
        let desk = AgentDesk()
        var numbers: Numbers
        var agents: [WaitingAgent] = []
        /// The agents that have ended, and each agent's questions, without those that it was told to forget.
        var ended: [WaitingAgent] = []
        var received: [(number: UInt64, process: CallerIdentity.ProcessIdentity)] = []
        var questions: [(user: UInt32, asking: AgentAsking)] = []
        var answered = 0

        init(seed: UInt64) { numbers = Numbers(state: seed) }

        mutating func step() throws {
            switch numbers.below(10) {
            case 0, 1: try register()
            case 2: remove()
            case 3, 4, 5: try ask()
            case 6: cancel()
            case 7: read()
            default: answer()
            }
        }

        private mutating func register() throws {
            let process = CallerIdentity.ProcessIdentity(
                user: UInt32(numbers.below(3)), process: Int32(numbers.below(3)))
            let known = agents.count { $0.process.user == process.user }
            guard known < AgentDesk.maxAgentsPerUser else {
                #expect(throws: KeychainError.self) { try desk.register(process) }
                return
            }
            agents.append(try desk.register(process))
        }

        private mutating func remove() {
            guard !agents.isEmpty else { return }
            let agent = agents.remove(at: numbers.below(agents.count))
            desk.remove(agent)
            desk.remove(agent)
            ended.append(agent)
        }

        private mutating func ask() throws {
            let user = UInt32(numbers.below(3))
            let asking = try AgentAsking(desk, .sample(user: user))
            questions.append((user, asking))
            // The thread of the question has begun. Without an agent it is answered at once.
            #expect(eventually { desk.load.questions == questions.count { !$0.asking.isAnswered } })
        }

        private mutating func cancel() {
            guard !questions.isEmpty else { return }
            let (_, asking) = questions[numbers.below(questions.count)]
            asking.cancellation.request()
            #expect(asking.outcome() != nil)
        }

        private mutating func read() {
            for agent in agents + ended {
                for event in agent.take() {
                    switch event {
                    case .question(let question): received.append((question.number, agent.process))
                    case .withdrawn(let number):
                        #expect(received.contains { $0.number == number && $0.process == agent.process })
                    case .registered: break
                    }
                }
            }
        }

        /// Answers a question with its number, as its process or as another one.
        private mutating func answer() {
            read()
            guard !received.isEmpty else { return }
            let question = received[numbers.below(received.count)]
            let process = numbers.below(4) == 0 ? received[numbers.below(received.count)].process : question.process
            do throws(KeychainError) {
                try desk.answer(
                    question.number, with: .confirmed(text: "\(process.user) \(question.number)"), from: process)
                answered += 1
                let mine = received.contains { $0.number == question.number && $0.process == process }
                #expect(mine, "a process answers what it was not asked")
            } catch {
                #expect(error.status == .param)
            }
        }

        /// Ends everything, and compares the answers.
        mutating func end() throws {
            for (_, asking) in questions { asking.cancellation.request() }
            var (texts, confirmed) = (Set<String>(), 0)
            for (user, asking) in questions {
                switch try #require(asking.outcome()) {
                case .confirmed(let secret):
                    let text = secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
                    #expect(text.hasPrefix("\(user) "), "user \(user) got the answer \(text)")
                    #expect(texts.insert(text).inserted, "an answer was used twice: \(text)")
                    confirmed += 1
                case .cancelled, .unavailable: break
                case .denied, .timedOut, .recognized, .fallback: Issue.record("an outcome that no agent has given")
                }
            }
            #expect(confirmed == answered && answered > 0)
            for agent in agents { desk.remove(agent) }
            #expect(desk.load == (0, 0))
        }
    }

    /// The same numbers for the same seed (splitmix64).
    private struct Numbers {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((value ^ (value >> 31)) % UInt64(limit))
        }
    }
}
