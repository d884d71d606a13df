// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
@testable import LatchkeyServer
import LinuxSystem
import Presence
import SecretMemory
import Synchronization
import Testing

/// A question that a thread of its own asks.
final class AgentAsking: Sendable {
    let cancellation = Cancellation()
    private let result = Mutex<PresenceOutcome?>(nil)

    convenience init(_ desk: AgentDesk, _ request: PresenceRequest) throws {
        try self.init { desk.ask(request, until: $0, cancellation: $1) }
    }

    convenience init(_ method: any PresenceMethod, _ request: PresenceRequest) throws {
        try self.init { method.ask(request, until: $0, cancellation: $1) }
    }

    private init(_ ask: @escaping @Sendable (UInt64, Cancellation) -> PresenceOutcome) throws {
        let deadline = BootClock.system.now() + 600_000_000_000
        let isRunning = BackgroundThread.run { [self] in
            let outcome = ask(deadline, cancellation)
            result.withLock { $0 = outcome }
        }
        try #require(isRunning)
    }

    var isAnswered: Bool { result.withLock { $0 != nil } }

    /// Waits for the outcome; nil if there is none.
    func outcome() -> PresenceOutcome? {
        _ = eventually { isAnswered }
        return result.withLock { $0 }
    }
}

extension WaitingAgent {
    /// Waits for the next event, and returns its question; nil if it is not a question.
    func nextQuestion() -> AgentQuestion? {
        var events: [AgentEvent] = []
        _ = eventually {
            events = take()
            return !events.isEmpty
        }
        guard events.count == 1, case .question(let question)? = events.first else { return nil }
        return question
    }
}

extension PresenceOutcome {
    /// The outcome of an answer with this text.
    static func confirmed(text: String) -> PresenceOutcome { .confirmed(SharedSecret(copying: text.utf8)) }
}

extension PresenceRequest {
    /// A question to user 1000.
    static func sample(_ factor: PresenceFactor = .passcode, user: UInt32 = 1000) -> PresenceRequest {
        PresenceRequest(
            factor, user: user,
            program: CallerIdentity(
                executable: "/usr/bin/example", declaredGroups: ["G1"], sandbox: .application(group: "flatpak.x"),
                process: CallerIdentity.ProcessIdentity(user: user, process: 77)),
            subject: .item(label: "Example", identifier: "1"), reason: "to log in",
            place: PromptPlace([.terminal: "/dev/pts/1", .terminalType: "xterm"]),
            previousFailure: .wrongSecret(attemptsLeft: 2))
    }
}
