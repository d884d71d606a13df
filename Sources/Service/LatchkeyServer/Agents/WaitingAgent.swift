// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem

/// A connected agent, and the events that it has not received.
///
/// The events are bounded by the open questions of the user: a question that is withdrawn before
/// the agent has received it leaves no event.
final class WaitingAgent: Sendable {
    let process: CallerIdentity.ProcessIdentity
    /// Whether the agent is still connected. It does not wait.
    let isConnected: @Sendable () -> Bool
    /// Raised when an event has arrived.
    let arrived: WakeSignal
    private let waiting = SystemMutex<[AgentEvent]>([])

    init(
        _ process: CallerIdentity.ProcessIdentity, isConnected: @escaping @Sendable () -> Bool
    ) throws(SystemError) {
        arrived = try WakeSignal()
        self.process = process
        self.isConnected = isConnected
    }

    func put(_ event: AgentEvent) {
        waiting.withLock { $0.append(event) }
        arrived.raise()
    }

    /// Tells the agent that a question needs no answer any more.
    func withdraw(_ number: UInt64) {
        let isReceived = waiting.withLock { waiting in
            let before = waiting.count
            waiting.removeAll { event in
                guard case .question(let question) = event else { return false }
                return question.number == number
            }
            return waiting.count == before
        }
        if isReceived { put(.withdrawn(number)) }
    }

    /// Returns and removes the events.
    func take() -> [AgentEvent] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

/// The registration of a client as an agent, from its request until the client disconnects.
struct DeskRegistration: AgentRegistration {
    let desk: AgentDesk
    let agent: WaitingAgent

    var arrived: WakeSignal { agent.arrived }

    func takeEvents() -> [AgentEvent] { agent.take() }

    func end() { desk.remove(agent) }
}
