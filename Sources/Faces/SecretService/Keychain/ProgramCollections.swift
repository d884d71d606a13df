// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LinuxSystem

/// The collections of programs in a keychain. The list is read again after a change; a locked keychain keeps those that
/// were known before.
final class ProgramCollections: Sendable {
    private struct State {
        /// Keeps the observer; nil before the first use.
        var observation: (any Sendable)?
        /// Counts the changes.
        var version: UInt64 = 0
        /// The version that was read; nil before the first time.
        var readVersion: UInt64?
        var collections: [KeychainCollection] = []
    }

    private let state = SystemMutex(State())

    /// - Parameters:
    ///   - isLocked: whether the keychain is locked.
    ///   - observe: adds an observer of the keychain.
    func all(
        in keychain: KeychainSession, isLocked: () throws(KeychainError) -> Bool,
        observe: (@escaping @Sendable () -> Void) throws(KeychainError) -> any Sendable
    ) throws(KeychainError) -> [KeychainCollection] {
        if state.withLock({ $0.observation == nil }) {
            let observation = try observe { [weak self] in self?.state.withLock { $0.version += 1 } }
            state.withLock { $0.observation = observation }
        }
        let (version, known, isCurrent) = state.withLock { ($0.version, $0.collections, $0.readVersion == $0.version) }
        if isCurrent { return known }
        if try isLocked() { return known }
        let found = try KeychainCollections(keychain).ofPrograms()
        state.withLock { ($0.readVersion, $0.collections) = (version, found) }
        return found
    }
}
