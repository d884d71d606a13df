// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The properties that distinguish one question from another in a queue.
///
/// Equal questions have the same words, so that one answer can serve all of them: they come from
/// the same process, for the same factor, item, reason and buttons.
struct PromptQuestion: Hashable, Sendable {
    let program: PromptProgram
    let process: CallerIdentity.ProcessIdentity?
    let declaredGroups: [String]?
    let factor: PresenceFactor
    let subject: PresenceRequest.Subject
    let reason: String
    let cancelTitle: String?
    let fallbackTitle: String?
    let previousFailure: PresenceRequest.PreviousFailure?
    let words: ConfirmationWords?

    init(_ request: PresenceRequest) {
        program = PromptProgram(request)
        process = request.program.process
        declaredGroups = request.program.declaredGroups
        factor = request.factor
        subject = request.subject
        reason = request.reason
        cancelTitle = request.cancelTitle
        fallbackTitle = request.fallbackTitle
        previousFailure = request.previousFailure
        words = request.words
    }

    var user: UInt32 { program.user }
}

/// A program of a user, in any number of processes. A cancellation applies to all of them.
struct PromptProgram: Hashable, Sendable {
    let user: UInt32
    let executable: String
    let attestedGroups: [String]?
    let sandbox: CallerIdentity.Sandbox?

    init(_ request: PresenceRequest) {
        user = request.user
        executable = request.program.executable
        attestedGroups = request.program.attestedGroups
        sandbox = request.program.sandbox
    }
}
