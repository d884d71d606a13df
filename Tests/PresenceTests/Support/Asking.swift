// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence
import SecretMemory
import Synchronization
import Testing

/// A question that a thread of its own asks.
final class Asking: Sendable {
    let cancellation = Cancellation()
    private let result = Mutex<PresenceOutcome?>(nil)

    /// - Parameter timeout: in seconds.
    init(_ method: any PresenceMethod, _ request: PresenceRequest, timeout: UInt64 = 600) throws {
        let deadline = BootClock.system.now() + timeout * 1_000_000_000
        let isRunning = BackgroundThread.run { [self] in
            let outcome = method.ask(request, until: deadline, cancellation: cancellation)
            result.withLock { $0 = outcome }
        }
        try #require(isRunning)
    }

    var isAnswered: Bool { result.withLock { $0 != nil } }

    /// Waits for the outcome, while `meanwhile` is called repeatedly.
    func outcome(meanwhile: () -> Void = {}) throws -> PresenceOutcome {
        _ = eventually {
            meanwhile()
            return isAnswered
        }
        return try #require(result.withLock { $0 })
    }
}

extension PresenceOutcome {
    /// The outcome of an answer with this text.
    static func confirmed(text: String) -> PresenceOutcome { .confirmed(SharedSecret(copying: text.utf8)) }
}

extension PresenceRequest {
    /// A question of this user, with short texts.
    static func sample(
        _ factor: PresenceFactor = .passcode, place: PromptPlace, failure: PreviousFailure? = nil
    ) -> PresenceRequest {
        PresenceRequest(
            factor, user: geteuid(), program: CallerIdentity(executable: "/usr/bin/example"),
            subject: .item(label: "Example", identifier: "1"), reason: "to log in", place: place,
            previousFailure: failure)
    }
}
