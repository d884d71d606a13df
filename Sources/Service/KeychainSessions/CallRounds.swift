// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyOperations

/// Calls that ask the person: if an item needs an authentication, the session performs it in a
/// context and repeats the call.
extension KeychainSession {
    /// Performs a call, and the authentications that it needs.
    ///
    /// If the service does not know the context, because it was restarted, the call is repeated once with a new one.
    /// Nothing is proven in the new one. The call fails if the program has ended the context.
    ///
    /// - Parameters:
    ///   - authentication: how the call may satisfy access controls. Without a context, one is
    ///     created for this call if it is needed.
    ///   - body: performs the call with the given values.
    /// - Throws: errSecInteractionNotAllowed if the person may not be asked; errSecAuthFailed if the
    ///   call still needs an authentication after ``maxRounds``; the errors of
    ///   ``OperationPerformer/authenticate(for:in:prompt:)``.
    package func prompting<Result>(
        _ authentication: Authentication, _ body: (Authentication) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var rounds = CallRounds(self, authentication)
        defer { rounds.end() }
        for _ in 0..<Self.maxRounds {
            do throws(KeychainError) {
                return try body(rounds.authentication)
            } catch {
                try rounds.prepareNext(after: error)
            }
        }
        throw .authentication(
            .failed, "the access control of the item was not satisfied after \(Self.maxRounds) authentications")
    }

    /// How often one call asks (keychain-behaviour §7.9, T181).
    package static let maxRounds = 20
}

/// The authentication that one call brings in each of its rounds.
private struct CallRounds {
    private let session: KeychainSession
    private let owner: (any AuthenticationContextOwner)?
    /// A context that was created for this call.
    private var own: AuthenticationContextID?
    private var hasReplaced = false
    private(set) var authentication: Authentication

    init(_ session: KeychainSession, _ authentication: Authentication) {
        self.session = session
        self.authentication = authentication
        owner = authentication.owner
        // The service has no use for it.
        if owner != nil { self.authentication.owner = nil }
    }

    /// Asks the person for the authentication that a round needed, or replaces a context that the service does not
    /// know.
    ///
    /// - Throws: the error of the round, if another round would not change it.
    mutating func prepareNext(after error: KeychainError) throws(KeychainError) {
        switch error.authentication {
        case .needed(let target)?:
            guard authentication.interaction == .allow else {
                throw .authentication(
                    .notInteractive, "the access control of the item requires authentication, and the call forbids it")
            }
            let context = try context()
            do throws(KeychainError) {
                try session.authenticate(for: target, in: context, prompt: authentication.prompt)
            } catch  where error.authentication == .failed(.invalidContext) {
                try replace(context, because: error)
            }
        case .failed(.invalidContext)?:
            guard let context = authentication.context else { throw error }
            try replace(context, because: error)
        default: throw error
        }
    }

    /// Ends the context that was created for this call.
    func end() {
        if let own { session.endContext(own) }
    }

    private mutating func context() throws(KeychainError) -> AuthenticationContextID {
        if let context = authentication.context { return context }
        let fresh = try session.createContext()
        (own, authentication.context) = (fresh, fresh)
        return fresh
    }

    /// Replaces a lost context, once in a call. Nothing is proven in the one that replaces it.
    private mutating func replace(
        _ lost: AuthenticationContextID, because error: KeychainError
    ) throws(KeychainError) {
        guard !hasReplaced, own != nil || owner != nil else { throw error }
        hasReplaced = true
        if own == nil {
            authentication.context = try owner?.identifier(replacing: lost)
        } else {
            end()
            (own, authentication.context) = (nil, nil)
        }
    }
}
