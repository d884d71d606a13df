// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
package import LatchkeyOperations
internal import LatchkeyService
internal import Presence

/// A keychain as one caller uses it: the service, with the caller filled in. The operations are those of
/// ``OperationPerformer``.
///
/// It adds no rules; the service decides about every request. A call that needs the person asks, if
/// its ``Authentication`` allows it.
public struct KeychainSession: Sendable {
    package let service: any KeychainService
    public let caller: CallerIdentity
    /// Where the person can be asked for the caller.
    private let place: @Sendable () -> PromptPlace

    /// - Parameter place: where the person can be asked; nil for the place of this process.
    package init(
        _ service: any KeychainService, as caller: CallerIdentity,
        promptingAt place: (@Sendable () -> PromptPlace)? = nil
    ) {
        self.service = service
        self.caller = caller
        self.place = place ?? { PromptPlace.ofThisProcess() }
    }

    /// Returns the same caller's use of another keychain.
    package func replacing(_ service: any KeychainService) -> KeychainSession {
        KeychainSession(service, as: caller, promptingAt: place)
    }
}

extension KeychainSession: OperationPerformer {
    /// Performs an operation, and the authentications that it needs; see ``prompting(_:_:)``. The person is not asked
    /// if results are passed on in parts.
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        let operation = operation.promptPlace == nil ? operation : operation.placed(at: place)
        guard let authentication = operation.authentication, exchange.take == nil else {
            return try service.perform(operation, from: caller, exchange)
        }
        var isUnchanged = authentication.owner == nil
        return try prompting(authentication) { (authentication) throws(KeychainError) in
            let request = isUnchanged ? operation : operation.authenticated(by: authentication)
            isUnchanged = false
            return try service.perform(request, from: caller, exchange)
        }
    }
}

// MARK: Reads that belong together

extension KeychainSession {
    /// Runs `body`. Reads of this thread in it see one state of the keychain, if this process holds it; of several
    /// keychains, that of the default one. It may run twice.
    package func reading<Value>(_ body: () -> Value) -> Value {
        guard let held = service.held else { return body() }
        return held.reading(body)
    }

    /// Runs `body`. Reads of this thread in it see one state of the keychain, if they take less than a millisecond and
    /// wait for nothing.
    ///
    /// - Returns: nil if they take longer, and if another process holds the keychain, or it is one of several; then
    ///   `body` may have run in part.
    package func readingAtOnce<Value>(_ body: () -> Value) -> Value? {
        guard let held = service.held, held === service else { return nil }
        return held.readingAtOnce(body)
    }
}

// MARK: The lock and the changes

extension KeychainSession {
    package func unlockAutomatically() { service.unlockAutomatically() }

    /// Returns the state of the lock after ``unlockAutomatically()``: items that it calls locked cannot be read.
    package func settledLockStatus() throws(KeychainError) -> LockStatus {
        unlockAutomatically()
        return try lockStatus()
    }

    package func addLockObserver(
        reportsPresent: Bool = false, _ body: @escaping @Sendable (LockState?) -> Void
    ) -> Int {
        service.addLockObserver(reportsPresent: reportsPresent, body)
    }

    package func removeLockObserver(_ number: Int) { service.removeLockObserver(number) }

    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        try service.addChangeObserver(body)
    }

    package func removeChangeObserver(_ number: Int) { service.removeChangeObserver(number) }
}
