// SPDX-License-Identifier: Apache-2.0

@_spi(Testing) import SecurityKey
import Testing

/// Gives the software authenticator more time for an answer, because a busy machine needs it.
struct LongAnswerTimeout: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await SecurityKey.$answerTimeout.withValue(.seconds(60), operation: function)
    }
}

extension Trait where Self == LongAnswerTimeout {
    static var longAnswerTimeout: Self { LongAnswerTimeout() }
}
