// SPDX-License-Identifier: Apache-2.0

/// The properties of an operation that access, repetition and the audit log depend on.
public struct OperationTraits: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Changes something, so that a repeated request must not be carried out twice. Its request has
    /// a token.
    public static let changes = OperationTraits(rawValue: 1 << 0)
    /// Is about the whole keychain. A program in a sandbox may not perform it.
    public static let administers = OperationTraits(rawValue: 1 << 1)
    /// Reads, creates, deletes or locks items of all groups, or changes their protection. If the keychain may hold
    /// items of attested groups, only attested callers may perform it.
    public static let accessesAllGroups = OperationTraits(rawValue: 1 << 2)
    /// Is about items in the access groups of the caller. If they are locked, a program that has the
    /// passcode performs the operation in a session of its own.
    public static let accessesItems = OperationTraits(rawValue: 1 << 7)
    /// Is about an authentication context of the caller. Contexts are where the items are: in the
    /// session that a program has opened for itself, if it has one.
    public static let accessesContexts = OperationTraits(rawValue: 1 << 8)
    /// Returns secrets of items, uses keys, or moves items to groups that others can read.
    public static let readsSecrets = OperationTraits(rawValue: 1 << 3)
    /// Affects nothing outside of a session when it is requested in one.
    public static let staysInSession = OperationTraits(rawValue: 1 << 4)
    /// Is performed even while the audit log cannot be written. Locking, reading the state, and
    /// deleting items are always possible.
    public static let worksWithoutLog = OperationTraits(rawValue: 1 << 5)
    /// Is performed even on a keychain that cannot be opened.
    public static let worksWithoutKeychain = OperationTraits(rawValue: 1 << 6)
    /// Locks the keychain.
    public static let locks = OperationTraits(rawValue: 1 << 9)
    /// Unlocks the keychain.
    public static let unlocks = OperationTraits(rawValue: 1 << 10)
    /// Reports the lock. A program that has opened a session for itself gets the state of that session.
    public static let readsLock = OperationTraits(rawValue: 1 << 11)
}
