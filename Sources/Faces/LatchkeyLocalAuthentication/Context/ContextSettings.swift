// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

/// The properties of an `LAContext` that an app sets, and what the last checks have found.
struct ContextSettings: Sendable {
    var localizedReason = ""
    var localizedFallbackTitle: String?
    var localizedCancelTitle: String?
    var reuseDuration: TimeInterval = 0
    var interactionNotAllowed = false
    var biometryType = LABiometryType.none
    var domainState: Data?

    /// Returns the prompt of an evaluation.
    ///
    /// - Throws: errSecParam if the reason is empty. Apple's class raises an exception of
    ///   Objective-C then, which ends the app.
    func prompt(reason: String) throws(KeychainError) -> AuthenticationPrompt {
        guard !reason.isEmpty else { throw .parameter("localizedReason must not be empty") }
        var prompt = itemPrompt
        prompt.reason = reason
        return prompt
    }

    /// The prompt of a call about items, whose reason may be empty.
    var itemPrompt: AuthenticationPrompt {
        AuthenticationPrompt(
            reason: localizedReason, cancelTitle: localizedCancelTitle.flatMap { $0.isEmpty ? nil : $0 },
            fallbackTitle: localizedFallbackTitle, reuse: reuse)
    }

    /// The reuse in seconds, from 0 to the maximum; 0 for a duration that is not a number.
    private var reuse: Double { reuseDuration > 0 ? min(reuseDuration, AuthenticationPrompt.maxReuse) : 0 }
}
