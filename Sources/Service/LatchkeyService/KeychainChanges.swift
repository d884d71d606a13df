// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainStore

/// The changes of a keychain by any process.
public protocol KeychainChanges: Sendable {
    /// Calls `body` after every change of the items, the passcode or the settings that is made after
    /// this call returns, until the observer is removed or `body` is told that it has ended.
    ///
    /// - Parameter body: called on any thread; it must not block.
    /// - Returns: the number to pass to ``removeChangeObserver(_:)``.
    /// - Throws: errSecNotAvailable if the daemon does not report changes, or has no place for
    ///   another observer; errSecIO if the system has none.
    func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int
    func removeChangeObserver(_ number: Int)
}

extension EmbeddedService {
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        do throws(StoreError) { return try store.addChangeObserver(body) } catch { throw KeychainError(error) }
    }

    public func removeChangeObserver(_ number: Int) { store.removeChangeObserver(number) }
}

extension KeychainSession: KeychainChanges {
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        try service.addChangeObserver(body)
    }

    public func removeChangeObserver(_ number: Int) { service.removeChangeObserver(number) }
}
