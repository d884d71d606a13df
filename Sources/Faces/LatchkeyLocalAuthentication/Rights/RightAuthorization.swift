// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// The state of one right, shared by the right, its key and its secret.
///
/// Each right keeps its authentication in an authentication context of its own. The context ends when the right is no
/// longer authorized.
final class RightAuthorization: Sendable {
    private struct Values {
        var state = LARight.State.unknown
        var evaluator = ContextEvaluator()
        var observers: [Int: AsyncStream<LARight.State>.Continuation] = [:]
        var lastObserver = 0

        mutating func set(_ new: LARight.State) {
            guard new != state else { return }
            state = new
            for observer in observers.values { observer.yield(new) }
        }
    }

    let requirement: LAAuthenticationRequirement.Kind
    private let target: AuthenticationTarget
    private let values = SystemMutex(Values())

    /// - Parameter item: the stored item that the right protects; nil for a right that is not saved.
    init(_ requirement: LAAuthenticationRequirement.Kind, item: PersistentReference? = nil) {
        self.requirement = requirement
        target = item.map { .item($0) } ?? .accessControl(requirement.flags)
    }

    deinit { values.withLock { for observer in $0.observers.values { observer.finish() } } }

    var state: LARight.State { values.withLock { $0.state } }

    /// Asks the person.
    func authorize(_ reason: String, completion: @escaping ContextEvaluator.Reply) {
        let evaluator = begin()
        evaluator.evaluate { [target] context in
            let prompt = try ContextSettings().prompt(reason: reason)
            try context.authenticate(for: target, prompt: prompt)
        } reply: { [self] error in
            end(evaluator, isAuthorized: error == nil)
            completion(error)
        }
    }

    /// Wipes the authentication. A prompt that is displayed fails with `LAError.appCancel`.
    func deauthorize() {
        replaceEvaluator().invalidate()
    }

    /// Returns why the right cannot be authorized now; nil if it can.
    func problem() throws(KeychainError) -> LAError? {
        let context = values.withLock { $0.evaluator.context }
        return requirement.policy.problem(with: try context.presenceStatus())
    }

    /// Returns the authentication of this right for calls that use the protected item, without a prompt.
    ///
    /// - Throws: an error with ``AuthenticationFailure/notInteractive`` if the right is not
    ///   authorized.
    func authentication() throws(KeychainError) -> Authentication {
        let (state, context) = values.withLock { ($0.state, $0.evaluator.context) }
        guard state == .authorized else {
            throw .authentication(.notInteractive, "the right is not authorized", hint: "call authorize first")
        }
        return try context.authentication(.fail)
    }

    /// Returns every new state from now on.
    func updates() -> AsyncStream<LARight.State> {
        let (stream, continuation) = AsyncStream<LARight.State>.makeStream()
        let number = values.withLock { values in
            values.lastObserver += 1
            values.observers[values.lastObserver] = continuation
            return values.lastObserver
        }
        continuation.onTermination = { [weak self] _ in self?.values.withLock { $0.observers[number] = nil } }
        return stream
    }

    private func begin() -> ContextEvaluator {
        values.withLock { values in
            values.set(.authorizing)
            return values.evaluator
        }
    }

    private func end(_ evaluator: ContextEvaluator, isAuthorized: Bool) {
        let isCurrent = values.withLock { values in
            // After `deauthorize`, the reply of an earlier evaluator changes nothing.
            guard values.evaluator === evaluator else { return false }
            if isAuthorized { values.set(.authorized) }
            return true
        }
        // Nothing that was proven before a failure stays usable.
        if isCurrent, !isAuthorized { deauthorize() }
    }

    private func replaceEvaluator() -> ContextEvaluator {
        values.withLock { values in
            defer {
                values.evaluator = ContextEvaluator()
                values.set(.notAuthorized)
            }
            return values.evaluator
        }
    }
}
