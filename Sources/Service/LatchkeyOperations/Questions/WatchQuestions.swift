// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import LinuxSystem

/// Makes the client an agent of its user: sends every question for the person, until the client
/// disconnects.
package struct WatchQuestions: KeychainOperation {
    package init() {}

    // An agent asks also for a keychain that cannot be opened, and opens none.
    package static let traits: OperationTraits = [.administers, .worksWithoutLog, .worksWithoutKeychain]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let agent = try context.registerAgent()
        defer { agent.end() }
        var isConnected = context.send(AgentEvent.registered)
        while isConnected, context.awaits(agent.arrived) {
            for event in agent.takeEvents() where isConnected { isConnected = context.send(event) }
        }
        return Done()
    }
}

/// A client that is an agent of its user.
package protocol AgentRegistration: Sendable {
    /// Raised when an event has arrived.
    var arrived: WakeSignal { get }

    /// Returns and removes the events that the agent has not seen.
    func takeEvents() -> [AgentEvent]

    /// Gives the agent's questions to another agent.
    func end()
}

/// An event for an agent.
package enum AgentEvent: ResponseContent, Equatable {
    /// The daemon asks this agent from now on. It is the first event.
    case registered
    case question(AgentQuestion)
    /// A question needs no answer any more.
    case withdrawn(UInt64)

    package var moreFollows: Bool { true }
}

// MARK: Coding

extension WatchQuestions {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .watchQuestions(WireNothing())
    }
}

extension AgentEvent {
    init(_ wire: WireAgentEvent) throws(WireError) {
        try requireKnown(wire)
        switch wire.event {
        case .registered(let nothing):
            try requireKnown(nothing)
            self = .registered
        case .question(let question): self = .question(try AgentQuestion(question))
        case .withdrawn(let number): self = .withdrawn(number)
        case nil: throw .malformed("an event of an agent has no content")
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireAgentEvent()
        wire.event =
            switch self {
            case .registered: .registered(WireNothing())
            case .question(let question): .question(question.wire)
            case .withdrawn(let number): .withdrawn(number)
            }
        return .agentEvent(wire)
    }
}
