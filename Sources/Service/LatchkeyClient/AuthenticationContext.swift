// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
public import SecretMemory

/// An authentication context of this process, such as the one behind an `LAContext`.
///
/// Its handle is created in the keychain service when it is first needed, and ends with the object.
public final class AuthenticationContext: AuthenticationContextOwner {
    private struct State {
        var handle: (session: KeychainSession, id: AuthenticationContextID)?
        var password: SharedSecret?
        var isInvalid = false
    }

    private let state = SystemMutex(State())
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    /// - Parameter open: returns the keychain; by default that of this process.
    public init(
        in open: @escaping @Sendable () throws(KeychainError) -> KeychainSession = { () throws(KeychainError) in
            try KeychainClient.session()
        }
    ) {
        self.open = open
    }

    deinit { invalidate() }

    /// Returns the handle for the calls that use this context.
    ///
    /// - Throws: an error with ``AuthenticationFailure/invalidContext`` after ``invalidate()``.
    public func identifier() throws(KeychainError) -> AuthenticationContextID { try handle().id }

    public func identifier(replacing lost: AuthenticationContextID) throws(KeychainError) -> AuthenticationContextID {
        forget(lost)
        return try identifier()
    }

    /// Returns the values for one call that uses this context.
    ///
    /// - Throws: an error with ``AuthenticationFailure/invalidContext`` after ``invalidate()``.
    public func authentication(
        _ interaction: Authentication.Interaction = .allow, prompt: AuthenticationPrompt = AuthenticationPrompt()
    ) throws(KeychainError) -> Authentication {
        Authentication(interaction, context: try identifier(), of: self, prompt: prompt)
    }

    /// Asks the person for the factors that the target requires and the context lacks. A context that the service has
    /// lost, because it was restarted, is created again.
    ///
    /// - Throws: an error with an ``AuthenticationFailure``.
    public func authenticate(for target: AuthenticationTarget, prompt: AuthenticationPrompt) throws(KeychainError) {
        let handle = try handle()
        do throws(KeychainError) {
            return try handle.session.authenticate(for: target, in: handle.id, prompt: prompt)
        } catch  where error.authentication == .failed(.invalidContext) {
            forget(handle.id)
        }
        let fresh = try self.handle()
        try fresh.session.authenticate(for: target, in: fresh.id, prompt: prompt)
    }

    /// Sets or removes the application password. A context that the service has lost is created
    /// again when it is needed.
    public func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
        let (known, isInvalid) = state.withLock { state in
            if !state.isInvalid { state.password = password }
            return (state.handle, state.isInvalid)
        }
        guard !isInvalid else { throw Self.invalidated }
        // A new handle gets the password when it is created.
        guard let known else { return }
        do throws(KeychainError) {
            try known.session.setApplicationPassword(password, in: known.id)
        } catch  where error.authentication == .failed(.invalidContext) {
            forget(known.id)
        }
    }

    /// Whether an application password is set. A wrong one is removed by the call that used it.
    public var hasApplicationPassword: Bool {
        let (known, password) = state.withLock { ($0.handle, $0.password) }
        // A password that is not in the service yet, or any more, is set when a handle is created.
        guard let known, let isSet = try? known.session.hasApplicationPassword(in: known.id) else {
            return password != nil
        }
        if !isSet {
            // Not if another thread has just set a new one.
            state.withLock { state in
                if state.handle?.id == known.id, state.password == password { state.password = nil }
            }
        }
        return isSet
    }

    /// Returns how the person can be asked. It displays nothing.
    public func presenceStatus() throws(KeychainError) -> PresenceStatus { try open().presenceStatus() }

    /// Ends the context: the proven factors are wiped, and every later use fails.
    public func invalidate() {
        let known = state.withLock { state in
            let known = state.handle
            state = State(isInvalid: true)
            return known
        }
        if let known { known.session.endContext(known.id) }
    }

    private func handle() throws(KeychainError) -> (session: KeychainSession, id: AuthenticationContextID) {
        let (known, password, isInvalid) = state.withLock { ($0.handle, $0.password, $0.isInvalid) }
        guard !isInvalid else { throw Self.invalidated }
        if let known { return known }
        let session = try open()
        let id = try session.createContext()
        if let password { try session.setApplicationPassword(password, in: id) }
        // Another thread may have created one meanwhile, or ended the context.
        let (kept, isUnused) = state.withLock { state in
            if !state.isInvalid, state.handle == nil { state.handle = (session, id) }
            return (state.handle, state.handle?.id != id)
        }
        if isUnused { session.endContext(id) }
        guard let kept else { throw Self.invalidated }
        return kept
    }

    private func forget(_ id: AuthenticationContextID) {
        state.withLock { state in if state.handle?.id == id { state.handle = nil } }
    }

    private static let invalidated = KeychainError.authentication(
        .invalidContext, "the authentication context was invalidated")
}

/// An object of a public module that brings an authentication context to a call, such as an
/// `LAContext` in `kSecUseAuthenticationContext`.
package protocol AuthenticationContextSource: AuthenticationContextObject {
    /// Returns the values for one call.
    func authentication() throws(KeychainError) -> Authentication
}

/// An object of a public module that brings an access control to a call, such as a
/// `SecAccessControl`.
package protocol AccessControlSource: AccessControlObject {
    /// nil for a class that items cannot have.
    var protectionClass: ProtectionClass? { get }
    /// Empty if it has only the protection class.
    var accessControlFlags: AccessControlFlags { get }
}
