// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import HTTPConnections
import KeychainTesting
import LatchkeyNIOSSL

/// A review that answers as a test says.
final class Reviewer: ServerReview {
    private let count = EventCount()
    private let asked = Collected<ServerEvaluation>()
    private let answer: @Sendable (ServerEvaluation) async -> ServerAnswer
    let identityQuestions = EventCount()

    init(_ answer: @escaping @Sendable (ServerEvaluation) async -> ServerAnswer = { _ in .default }) {
        self.answer = answer
    }

    var identifier: Swift.ObjectIdentifier { Swift.ObjectIdentifier(self) }
    var questions: Int { count.value }
    var evaluations: [ServerEvaluation] { asked.all }

    func answer(to evaluation: ServerEvaluation) async -> ServerAnswer {
        asked.append(evaluation)
        count.increase()
        return await answer(evaluation)
    }

    func identity(for server: ServerName) async throws(TLSRefusal) -> TLSIdentity? {
        identityQuestions.increase()
        return nil
    }
}
