// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The operations on authentication contexts: what a person has proven once, and several calls of
/// one process can use.
///
/// A context is a handle of the service's. It belongs to the process that created it, ends with it,
/// and loses what was proven when the keychain is locked.
public protocol KeychainAuthentication: Sendable {
    /// Creates an empty context.
    ///
    /// - Throws: errSecAllocate if the process has too many.
    func createContext(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID

    /// Asks the person for what the target requires and the context does not have yet.
    ///
    /// - Throws: an error with an ``AuthenticationFailure`` if the authentication does not succeed;
    ///   errSecItemNotFound if the target is an item that does not exist.
    func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError)

    /// Sets or removes the application password of a context (`LAContext.setCredential`).
    func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError)

    /// Returns whether a context has an application password: that of the program, or one that the
    /// person typed. A wrong one is removed by the call that used it.
    func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool

    /// Ends a context and wipes its keys. It is no error if it has ended already.
    func endContext(_ context: AuthenticationContextID, from caller: CallerIdentity)

    /// Returns how the person can be asked. It displays nothing.
    func presenceStatus(at place: PromptPlace, from caller: CallerIdentity) throws(KeychainError) -> PresenceStatus
}
