// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations

/// A service that a test has written: it answers some operations, and reports nothing.
package protocol ScriptedService: KeychainService {
    /// Returns the answer to an operation; nil for one that the test does not expect.
    func answer(
        to operation: any KeychainOperation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> (any ResponseContent)?
}

extension ScriptedService {
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        guard let answer = try answer(to: operation, from: caller, exchange) as? Operation.Answer else {
            throw KeychainError(.notAvailable, "the test keychain has no \(Operation.self)")
        }
        return answer
    }

    package func unlockAutomatically() {}
    package func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int { 0 }
    package func removeLockObserver(_ number: Int) {}
    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int { throw .notAvailable }
    package func removeChangeObserver(_ number: Int) {}
    package func close() {}
}
