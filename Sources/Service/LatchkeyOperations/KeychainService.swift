// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyService

/// Performs the operations of a keychain: this process itself, a daemon, or several keychains as one.
/// Synchronous, and safe to call from any thread.
package protocol KeychainService: AnyObject, Sendable {
    /// Performs an operation, with every access rule, and returns its answer.
    func perform<Operation: KeychainOperation>(
        _ operation: Operation, from caller: CallerIdentity, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer

    /// Unlocks the keychain with the passcode that the process was given, unless it was locked by a call. It is called
    /// before something is reported as locked. Without such a passcode, and with a wrong one, the keychain stays as it
    /// is. A wrong passcode is logged.
    func unlockAutomatically()

    // MARK: Observing

    /// Calls `body` with every new lock state, until the observer is removed; with nil while the process
    /// that holds the keychain does not tell its state, because it has ended.
    ///
    /// - Parameter reportsPresent: whether `body` is also called with the present state.
    /// - Returns: the number to pass to ``removeLockObserver(_:)``.
    func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int
    func removeLockObserver(_ number: Int)

    /// Calls `body` after every change of the items, the passcode or the settings that is made after
    /// this call returns, until the observer is removed or `body` is told that it has ended.
    ///
    /// - Parameter body: called on any thread; it must not block.
    /// - Returns: the number to pass to ``removeChangeObserver(_:)``.
    /// - Throws: errSecNotAvailable if the daemon does not report changes, or has no place for
    ///   another observer; errSecIO if the system has none.
    func addChangeObserver(_ body: @escaping @Sendable (KeychainChangeEvent) -> Void) throws(KeychainError) -> Int
    func removeChangeObserver(_ number: Int)

    // MARK: The process

    /// The keychain that has the keys of files, and closes them with its lock: this one; of a search list the one that
    /// every user has, because files outlive the keychain of a script.
    var fileKeychain: any KeychainService { get throws(KeychainError) }

    /// The keychain if this process holds its keys; nil if another process does.
    var held: EmbeddedService? { get }

    /// Whether the process that holds the keychain cannot be reached now.
    var isAway: Bool { get }

    /// Closes the keychain.
    func close()
}

extension KeychainService {
    package var fileKeychain: any KeychainService { get throws(KeychainError) { self } }
    package var held: EmbeddedService? { nil }
    package var isAway: Bool { false }
}
