// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
internal import LinuxSystem
package import Presence
internal import SecretMemory

/// Answers a question that the daemon has given to this process. The daemon verifies the secret in
/// it.
package struct AnswerQuestion: KeychainOperation {
    package let number: UInt64
    package let outcome: PresenceOutcome

    package init(_ number: UInt64, with outcome: PresenceOutcome) { (self.number, self.outcome) = (number, outcome) }

    package static let traits: OperationTraits = [.administers, .worksWithoutLog, .worksWithoutKeychain]

    // The operation that asked has its own lines in the log.
    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        try context.answerQuestion(number, with: outcome)
        return Done()
    }

    /// The maximum length of the secret that a person types, in bytes.
    package static let maxSecretLength = 4096
}

// MARK: Coding

extension AnswerQuestion {
    init(_ wire: WireQuestionAnswer, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        number = wire.number
        switch wire.outcome {
        case .confirmed(let confirmation): outcome = .confirmed(try confirmation.decode(&secrets))
        case .denied(let nothing): outcome = try Self.decode(nothing, .denied)
        case .cancelled(let nothing): outcome = try Self.decode(nothing, .cancelled)
        case .timedOut(let nothing): outcome = try Self.decode(nothing, .timedOut)
        case .unavailable(let reason): outcome = .unavailable(try reason.decode())
        case nil: throw .malformed("the answer to a question has no outcome")
        }
    }

    private static func decode(_ nothing: WireNothing, _ outcome: PresenceOutcome) throws(WireError) -> PresenceOutcome
    {
        try requireKnown(nothing)
        return outcome
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireQuestionAnswer()
        wire.number = number
        wire.outcome =
            switch outcome {
            case .confirmed(let secret): .confirmed(WireConfirmation(secret, &secrets))
            // Only a sensor of the daemon recognizes a finger; an agent is not asked for one.
            case .denied, .recognized, .fallback: .denied(WireNothing())
            case .cancelled: .cancelled(WireNothing())
            case .timedOut: .timedOut(WireNothing())
            case .unavailable(let reason): .unavailable(WireUnavailability(reason))
            }
        return .answerQuestion(wire)
    }
}

extension WireConfirmation {
    fileprivate init(_ secret: SharedSecret?, _ secrets: inout SecretCollector) {
        self.init()
        if let secret { self.secret = secrets.append(secret) }
    }

    fileprivate func decode(_ secrets: inout SecretTable) throws(WireError) -> SharedSecret? {
        try requireKnown(self)
        guard hasSecret else { return nil }
        let secret = try secrets.take(secret)
        guard (1...AnswerQuestion.maxSecretLength).contains(secret.count) else {
            throw .malformed(
                "the typed text has \(secret.count) bytes, 1 to \(AnswerQuestion.maxSecretLength) are allowed")
        }
        return secret
    }
}

extension WireUnavailability {
    fileprivate init(_ reason: PresenceUnavailability) {
        self.init()
        problem = AgentQuestion.shortened(reason.problem)
        hint = AgentQuestion.shortened(reason.hint)
    }

    fileprivate func decode() throws(WireError) -> PresenceUnavailability {
        try requireKnown(self)
        try AgentQuestion.check([problem, hint])
        return .agentFailed(problem: problem, hint: hint)
    }
}
