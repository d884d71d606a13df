// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Calls that ask the person: if an item needs an authentication, the session performs it in a
/// context and repeats the call.
extension KeychainSession {
    /// Performs a call, and the authentications that it needs.
    ///
    /// - Parameters:
    ///   - authentication: how the call may satisfy access controls. Without a context, one is
    ///     created for this call if it is needed.
    ///   - body: performs the call with the given values.
    /// - Throws: errSecInteractionNotAllowed if the person may not be asked; errSecAuthFailed if the
    ///   call still needs an authentication after ``maxRounds``; the errors of
    ///   ``KeychainAuthentication/authenticate(for:in:prompt:from:)``.
    package func prompting<Result>(
        _ authentication: Authentication, _ body: (Authentication) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var current = authentication
        var own: AuthenticationContextID?
        defer { if let own { service.endContext(own, from: caller) } }
        for _ in 0..<Self.maxRounds {
            let target: AuthenticationTarget
            do throws(KeychainError) {
                return try body(current)
            } catch {
                guard case .needed(let needed)? = error.authentication else { throw error }
                target = needed
            }
            guard authentication.interaction == .allow else {
                throw .authentication(
                    .notInteractive, "the access control of the item requires authentication, and the call forbids it")
            }
            let context: AuthenticationContextID
            if let known = current.context {
                context = known
            } else {
                context = try service.createContext(from: caller)
                own = context
                current.context = context
            }
            try service.authenticate(
                for: target, in: context,
                prompt: AuthenticationPrompt(reason: authentication.reason, place: place()), from: caller)
        }
        throw .authentication(
            .failed, "the access control of the item was not satisfied after \(Self.maxRounds) authentications")
    }

    /// How often one call asks (keychain-behaviour §7.9, T181).
    package static let maxRounds = 20
}

// MARK: Contexts

extension KeychainSession {
    /// Creates an empty context; see ``KeychainAuthentication``.
    public func createContext() throws(KeychainError) -> AuthenticationContextID {
        try service.createContext(from: caller)
    }

    /// Asks the person for what the target requires and the context does not have yet. The place of
    /// the prompt is that of this process, unless the prompt names one.
    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt
    ) throws(KeychainError) {
        var prompt = prompt
        if prompt.place == .none { prompt.place = place() }
        try service.authenticate(for: target, in: context, prompt: prompt, from: caller)
    }

    /// Returns how the person can be asked from this process. It displays nothing.
    public func presenceStatus() throws(KeychainError) -> PresenceStatus {
        try service.presenceStatus(at: place(), from: caller)
    }
}
