// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import KeychainModel
internal import LatchkeyClient
public import LatchkeySecurity
internal import LinuxSystem
internal import SecretMemory

/// The authentication of a person, for use by one or several calls.
///
/// ```swift
/// let context = LAContext()
/// var error: NSError?
/// guard context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) else { return }
/// try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show the notes")
/// ```
///
/// A context with a successful evaluation, as the value of `kSecUseAuthenticationContext`, opens items without another
/// prompt if the evaluation satisfies their access control. It belongs to this process, and loses the authentication
/// when the keychain is locked.
///
/// An object can be used by several threads. Unlike Apple's class, it does not end an evaluation when
/// the last reference is dropped.
// Unchecked, because a class that can be subclassed is not checked; its two properties are constant
// and Sendable.
open class LAContext: NSObject, @unchecked Sendable {
    let evaluator = ContextEvaluator()
    let settings = SystemMutex(ContextSettings())

    /// Creates a context without any evaluation.
    public override init() { super.init() }

    // MARK: Properties

    /// Why the program asks, for calls that state no reason of their own, such as
    /// `SecItemCopyMatching`.
    open var localizedReason: String {
        get { settings.withLock { $0.localizedReason } }
        set { settings.withLock { $0.localizedReason = newValue } }
    }

    /// The text of the choice of the passcode instead of biometry. Nil is the default text; empty
    /// hides the choice.
    open var localizedFallbackTitle: String? {
        get { settings.withLock { $0.localizedFallbackTitle } }
        set { settings.withLock { $0.localizedFallbackTitle = newValue } }
    }

    /// The text of the button that ends the prompt. Nil and empty are the default text.
    open var localizedCancelTitle: String? {
        get { settings.withLock { $0.localizedCancelTitle } }
        set { settings.withLock { $0.localizedCancelTitle = newValue } }
    }

    /// How long ago, in seconds, the person may have been recognized by biometry, so that the prompt
    /// is not displayed. Values above ``LATouchIDAuthenticationMaximumAllowableReuseDuration`` have
    /// the effect of that value.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { settings.withLock { $0.reuseDuration } }
        set { settings.withLock { $0.reuseDuration = newValue } }
    }

    /// Whether evaluations fail with `LAError.notInteractive`, and item calls with
    /// `errSecInteractionNotAllowed`, instead of asking the person.
    open var interactionNotAllowed: Bool {
        get { settings.withLock { $0.interactionNotAllowed } }
        set { settings.withLock { $0.interactionNotAllowed = newValue } }
    }

    /// The biometry of this machine. It is set when ``canEvaluatePolicy(_:error:)`` has been called,
    /// and `none` before.
    open var biometryType: LABiometryType { settings.withLock { $0.biometryType } }

    /// Identifies the enrolled biometry: 32 bytes that change when a finger is added or removed. It
    /// is set when ``canEvaluatePolicy(_:error:)`` succeeds for a biometric policy, or an evaluation
    /// succeeds while biometry can be used; nil otherwise.
    open var evaluatedPolicyDomainState: Data? { settings.withLock { $0.domainState } }

    /// Has no effect, as on Apple's platforms since iOS 9.
    @available(*, deprecated, message: "has no effect")
    open var maxBiometryFailures: NSNumber? {
        get { nil }
        set { _ = newValue }
    }

    // MARK: Evaluation

    /// Returns whether the policy could be evaluated now, as far as this is known without asking the
    /// person. It displays nothing.
    ///
    /// - Parameters:
    ///   - policy: the required authentication.
    ///   - error: receives the reason if the policy cannot be evaluated, otherwise nil.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let problem = availability(of: policy)
        error?.pointee = problem.map { $0 as NSError }
        return problem == nil
    }

    /// Asks the person for the authentication that the policy requires and this context lacks.
    ///
    /// - Parameters:
    ///   - policy: the required authentication.
    ///   - localizedReason: why the program asks; displayed with the name of the program. It must not
    ///     be empty.
    ///   - reply: called once, on another thread: with true, or with false and an ``LAError``. An
    ///     error that has nothing to do with authentication is an NSError of NSOSStatusErrorDomain,
    ///     such as errSecParam for an empty reason.
    @preconcurrency
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(.policy(policy), localizedReason, reply)
    }

    /// Asks the person for the authentication that the policy requires and this context lacks, as
    /// ``evaluatePolicy(_:localizedReason:reply:)`` does.
    ///
    /// - Returns: always true; a failure is thrown.
    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { isSuccess, error in
                continuation.resume(with: Self.outcome(isSuccess, error))
            }
        }
    }

    /// Asks the person for the authentication that the operation on an item with this access control requires and this
    /// context lacks. The item can then be used with this context without a prompt.
    ///
    /// - Parameters:
    ///   - accessControl: the access control of the item.
    ///   - operation: the use of the item. Storing it needs no authentication, only the application
    ///     password if the access control has one.
    ///   - localizedReason: why the program asks; it must not be empty.
    ///   - reply: as for ``evaluatePolicy(_:localizedReason:reply:)``.
    @preconcurrency
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        evaluate(.accessControl(accessControl.accessControlFlags, operation), localizedReason, reply)
    }

    /// Asks the person for the authentication that the operation requires, as
    /// ``evaluateAccessControl(_:operation:localizedReason:reply:)`` does.
    ///
    /// - Returns: always true; a failure is thrown.
    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                isSuccess, error in
                continuation.resume(with: Self.outcome(isSuccess, error))
            }
        }
    }

    // MARK: Credentials

    /// Sets the application password for the items and evaluations that use this context; nil
    /// removes it. The password is copied into secret memory.
    ///
    /// - Returns: false if the type is not supported, or the context was invalidated.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword, !evaluator.isInvalid else { return false }
        do {
            try evaluator.context.setApplicationPassword(credential.map { SharedSecret(copying: $0) })
            return true
        } catch {
            return false
        }
    }

    /// Whether a credential of the type is set: by the program, or typed by the person for this
    /// context. An item call that finds that it is wrong removes it.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        type == .applicationPassword && !evaluator.isInvalid && evaluator.context.hasApplicationPassword
    }

    // MARK: End

    /// Ends the context, and wipes its authentication. An evaluation that is in progress fails with
    /// `LAError.appCancel`, every later use with `LAError.invalidContext`.
    open func invalidate() { evaluator.invalidate() }
}

// MARK: Items

extension LAContext: AuthenticationContextSource {
    package func authentication() throws(KeychainError) -> Authentication {
        let settings = settings.withLock { $0 }
        return try evaluator.context.authentication(
            settings.interactionNotAllowed ? .fail : .allow, prompt: settings.itemPrompt)
    }
}
