// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem
public import Presence

/// Asks by an agent in the session of the user, for a daemon that has no session.
public struct AgentPrompt: PresenceMethod {
    public let name = "agent"
    public let factors: Set<PresenceFactor> = [
        .passcode, .applicationPassword, .newApplicationPassword, .confirmation, .securityKey, .securityKeyPIN,
    ]

    private let desk: AgentDesk

    /// - Parameter desk: the desk of the server that the agents connect to.
    public init(_ desk: AgentDesk) { self.desk = desk }

    /// The agent finds out whether the place can be used: the daemon cannot open a terminal of the
    /// user.
    public func unavailability(for user: UInt32, at place: PromptPlace) -> PresenceUnavailability? {
        guard place.hasDisplay || place.hasTerminal else { return .noPlace(ignored: place.ignored) }
        return desk.hasAgent(of: user) ? nil : .noAgent
    }

    public func ask(_ request: PresenceRequest, until deadline: UInt64, cancellation: Cancellation) -> PresenceOutcome {
        guard factors.contains(request.factor) else { return .unavailable(.noMethod(request.factor)) }
        if let reason = unavailability(for: request.user, at: request.place) { return .unavailable(reason) }
        let outcome = desk.ask(request, until: deadline, cancellation: cancellation)
        // A secret that was not requested is dropped, and a missing one is a no.
        guard case .confirmed(let secret) = outcome else { return outcome }
        guard request.factor.isSecret else { return .confirmed(nil) }
        return secret == nil ? .denied : outcome
    }
}
