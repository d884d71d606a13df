// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyNIOSSL
internal import LinuxSystem

/// A review that pauses the time limit of the handshake.
final class TimedReview: ServerReview {
    private let review: any ServerReview
    /// Called with true before, and with false after a question.
    private let paused = SystemMutex<(@Sendable (Bool) -> Void)?>(nil)

    init(_ review: any ServerReview) { self.review = review }

    func whenAsked(_ paused: @escaping @Sendable (Bool) -> Void) { self.paused.withLock { $0 = paused } }

    var identifier: Swift.ObjectIdentifier { review.identifier }

    func answer(to evaluation: ServerEvaluation) async -> ServerAnswer {
        let paused = paused.withLock { $0 }
        paused?(true)
        defer { paused?(false) }
        return await review.answer(to: evaluation)
    }

    func identity(for server: ServerName) async throws(TLSRefusal) -> TLSIdentity? {
        let paused = paused.withLock { $0 }
        paused?(true)
        defer { paused?(false) }
        return try await review.identity(for: server)
    }
}
