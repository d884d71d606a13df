// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient

/// Calls about items with an ``AccessControl``.
extension Keychain {
    /// Returns the same keychain; its calls share the person's authentication. The person is asked when an access
    /// control first requires it, and again only for authentication that is still missing.
    ///
    /// ```swift
    /// let unlocked = Keychain.default.authenticated(reason: "show your accounts")
    /// let first = try unlocked.string(for: alice)    // asks
    /// let second = try unlocked.string(for: bob)     // does not ask again
    /// ```
    ///
    /// The authentication ends with the last copy of the value, and when the keychain is locked. Keys that the returned
    /// keychain finds keep it.
    ///
    /// - Parameter reason: why the program asks, for the prompt: "show your accounts".
    public func authenticated(reason: String) -> Keychain {
        with(.context(AuthenticationContext(in: open), reason: reason))
    }

    /// Returns the same keychain, as ``authenticated(reason:)`` does, with the password of the
    /// program for items that require one.
    ///
    /// - Throws: errSecParam if the password is empty.
    public func authenticated(
        reason: String = "", password: some SecretConvertible
    ) throws(KeychainError) -> Keychain {
        let secret = password.sharedSecret()
        guard secret.count > 0 else { throw .parameter("the application password must not be empty") }
        let context = AuthenticationContext(in: open)
        try context.setApplicationPassword(secret)
        return with(.context(context, reason: reason))
    }

    /// Runs several calls, and asks the person at most once; the authentication ends with the calls.
    ///
    /// ```swift
    /// let secrets = try keychain.authenticated(reason: "sign in") { keychain throws(KeychainError) in
    ///     (try keychain.string(for: name), try keychain.string(for: password))
    /// }
    /// ```
    public func authenticated<Result>(
        reason: String, _ body: (Keychain) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let context = AuthenticationContext(in: open)
        // Also if the closure has stored the keychain elsewhere.
        defer { context.invalidate() }
        return try body(with(.context(context, reason: reason)))
    }

    /// Returns the same keychain without prompts: its calls throw ``KeychainError/interactionNotAllowed``, and lists
    /// leave out the items that need a prompt.
    public func withoutPrompts() -> Keychain { with(.silent) }
}

extension AsyncKeychain {
    /// Returns the same keychain; its calls share the person's authentication, as with
    /// ``Keychain/authenticated(reason:)``.
    public func authenticated(reason: String) -> AsyncKeychain { keychain.authenticated(reason: reason).async }

    /// Runs several calls on a thread for blocking calls, and asks the person at most once.
    public func authenticated<Result: Sendable>(
        reason: String, _ body: @escaping @Sendable (Keychain) throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.authenticated(reason: reason, body)
        }
    }

    /// Returns the same keychain without prompts.
    public func withoutPrompts() -> AsyncKeychain { keychain.withoutPrompts().async }
}

/// How the calls of a keychain satisfy access controls.
enum AuthenticationChoice: Sendable {
    /// Each call asks by itself.
    case asking
    /// No call asks.
    case silent
    /// The calls share a context.
    case context(AuthenticationContext, reason: String)

    /// Returns the values for one call.
    func values() throws(KeychainError) -> Authentication {
        switch self {
        case .asking: Authentication()
        case .silent: Authentication(.fail)
        case .context(let context, let reason):
            try context.authentication(prompt: AuthenticationPrompt(reason: reason))
        }
    }
}
