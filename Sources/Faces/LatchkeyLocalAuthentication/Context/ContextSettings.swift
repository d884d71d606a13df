// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

/// The properties of an `LAContext` that an app sets, and the biometry that the last checks found.
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
    /// - Throws: errSecParam if the reason is empty. Apple's class then raises an exception of Objective-C, and the app
    ///   ends.
    func prompt(reason: String) throws(KeychainError) -> AuthenticationPrompt {
        guard !reason.isEmpty else { throw .parameter("localizedReason must not be empty") }
        var prompt = itemPrompt
        prompt.reason = reason
        return prompt
    }

    /// The prompt of a call about items. Its reason may be empty.
    var itemPrompt: AuthenticationPrompt {
        AuthenticationPrompt(
            reason: localizedReason, cancelTitle: localizedCancelTitle.flatMap { $0.isEmpty ? nil : $0 },
            fallbackTitle: localizedFallbackTitle, reuse: reuse)
    }

    /// The reuse in seconds, from 0 to the maximum; 0 for a duration that is not a number.
    private var reuse: Double { reuseDuration > 0 ? min(reuseDuration, AuthenticationPrompt.maxReuse) : 0 }
}
