// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import LatchkeyClient
internal import LinuxSystem

/// Access to a part of an app that the person must authorize.
///
/// ```swift
/// let notes = LARight()
/// try await notes.authorize(localizedReason: "Show the notes")
/// await notes.deauthorize()
/// ```
///
/// The right itself protects nothing: an app that only looks at ``state`` can be changed so that it
/// does not look. A right that is saved in ``LARightStore`` protects a key and a secret.
// Unchecked, because a class with subclasses is not checked; its properties are constant and Sendable.
open class LARight: NSObject, @unchecked Sendable {
    let authorization: RightAuthorization
    private let number: SystemMutex<Int>

    /// Creates a right with the default requirement: biometry or the passcode.
    public override convenience init() { self.init(requirement: .default) }

    /// Creates a right with a requirement.
    public init(requirement: LAAuthenticationRequirement) {
        authorization = RightAuthorization(requirement.kind)
        number = SystemMutex(0)
        super.init()
    }

    init(_ authorization: RightAuthorization, tag: Int) {
        self.authorization = authorization
        number = SystemMutex(tag)
        super.init()
    }

    /// Whether the right is authorized. It stays `authorized` when the keychain is locked, but the key and the secret
    /// that it protects can then no longer be used.
    open var state: State { authorization.state }

    /// The states from now on. Linux has no key-value observation as in Apple's class.
    public var stateUpdates: AsyncStream<State> { authorization.updates() }

    /// A number of the app's own; 0 by default. It is stored with a saved right.
    open var tag: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }

    /// Asks the person for the proof that the right requires.
    ///
    /// - Parameters:
    ///   - localizedReason: why the program asks; it must not be empty.
    ///   - handler: called once, on another thread, with nil or with an ``LAError``.
    @preconcurrency
    open func authorize(localizedReason: String, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        authorization.authorize(localizedReason, completion: handler)
    }

    /// Asks the person for the proof that the right requires, as ``authorize(localizedReason:completion:)`` does.
    open func authorize(localizedReason: String) async throws {
        try await awaitCompletion { authorize(localizedReason: localizedReason, completion: $0) }
    }

    /// Finds out whether the right can be authorized now. It displays nothing.
    ///
    /// - Parameter handler: called once, on another thread, with nil or with the reason.
    @preconcurrency
    open func checkCanAuthorize(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let authorization = authorization
        runInBackground {
            if let problem = try authorization.problem() { throw problem }
        } completion: { outcome in
            handler(outcome.error)
        }
    }

    /// Throws the reason if the right cannot be authorized now. It displays nothing.
    open func checkCanAuthorize() async throws {
        try await awaitCompletion { checkCanAuthorize(completion: $0) }
    }

    /// Ends the authorization and wipes the person's proof.
    ///
    /// - Parameter handler: called once, on another thread.
    @preconcurrency
    open func deauthorize(completion handler: @escaping @Sendable () -> Void) {
        let authorization = authorization
        runInBackground {
            authorization.deauthorize()
        } completion: { _ in
            handler()
        }
    }

    /// Ends the authorization and wipes the person's proof.
    open func deauthorize() async {
        await withCheckedContinuation { continuation in deauthorize { continuation.resume() } }
    }

    /// The states of a right. The raw values are Apple's.
    public enum State: Int, Sendable {
        /// The right was not authorized yet.
        case unknown = 0
        /// The person is asked.
        case authorizing = 1
        /// The person has authorized the right.
        case authorized = 2
        /// The authorization failed, or has ended.
        case notAuthorized = 3
    }
}
