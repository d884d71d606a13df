// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The saved rights of a program, in its keychain. Each has a key, and a secret if the app gives one.
///
/// ```swift
/// let right = try await LARightStore.shared.saveRight(
///     LARight(requirement: .biometryCurrentSet), identifier: "vault", secret: token)
/// try await right.authorize(localizedReason: "Open the vault")
/// let data = try await right.secret.rawData
/// ```
///
/// A saved right needs a passcode of the keychain, and is lost when the passcode is removed. Errors
/// of the keychain are NSErrors of NSOSStatusErrorDomain, such as `errSecItemNotFound`.
public final class LARightStore: NSObject, Sendable {
    /// The store of this program.
    public static let shared = LARightStore()

    private override init() { super.init() }

    // MARK: Finding

    /// Returns the right with an identifier.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the saved right.
    ///   - handler: called once, on another thread, with the right or with an error.
    @preconcurrency
    public func right(
        forIdentifier identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        runInBackground {
            try Self.find(identifier)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Returns the right with an identifier.
    ///
    /// - Throws: `errSecItemNotFound`; `errSecDecode` if the stored right is damaged.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await inBackground { try Self.find(identifier) }
    }

    // MARK: Saving

    /// Saves a right with a new key; see ``saveRight(_:identifier:)``.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        runInBackground {
            try Self.save(right, identifier, nil)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Saves a right with a new key and a secret; see ``saveRight(_:identifier:secret:)``.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let secret = SharedSecret(copying: secret)
        runInBackground {
            try Self.save(right, identifier, secret)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Saves a right with a new key. The person is not asked.
    ///
    /// - Returns: the saved right, not authorized.
    /// - Throws: `LAError.passcodeNotSet`; `errSecDuplicateItem` if a right has this identifier.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await inBackground { try Self.save(right, identifier, nil) }
    }

    /// Saves a right with a new key and a secret. The person is not asked.
    ///
    /// - Returns: the saved right, not authorized.
    /// - Throws: `LAError.passcodeNotSet`; `errSecDuplicateItem` if a right has this identifier.
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        let secret = SharedSecret(copying: secret)
        return try await inBackground { try Self.save(right, identifier, secret) }
    }

    // MARK: Removal

    /// Deletes a right with its key and its secret.
    ///
    /// - Parameters:
    ///   - right: the right.
    ///   - handler: called once, on another thread, with nil or with an error.
    @preconcurrency
    public func removeRight(_ right: LAPersistedRight, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        runInBackground {
            try Self.remove(right)
        } completion: {
            handler($0.error)
        }
    }

    /// Deletes a right with its key and its secret.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await inBackground { try Self.remove(right) }
    }

    /// Deletes the right with an identifier, with its key and its secret.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the saved right.
    ///   - handler: called once, on another thread, with nil or with an error.
    @preconcurrency
    public func removeRight(
        forIdentifier identifier: String, completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        runInBackground {
            try Self.remove(identifier)
        } completion: {
            handler($0.error)
        }
    }

    /// Deletes the right with an identifier, with its key and its secret.
    ///
    /// - Throws: `errSecItemNotFound`.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await inBackground { try Self.remove(identifier) }
    }

    /// Deletes all rights that this program has saved.
    ///
    /// - Parameter handler: called once, on another thread, with nil or with an error.
    @preconcurrency
    public func removeAllRights(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        runInBackground {
            try RightItems().deleteAll()
        } completion: {
            handler($0.error)
        }
    }

    /// Deletes all rights that this program has saved. It is no error if there are none.
    public func removeAllRights() async throws {
        try await inBackground { try RightItems().deleteAll() }
    }
}

// MARK: Calls

extension LARightStore {
    private static func find(_ identifier: String) throws -> LAPersistedRight {
        let (record, reference) = try RightItems().find(identifier)
        return try LAPersistedRight(record, at: reference)
    }

    private static func save(_ right: LARight, _ identifier: String, _ secret: SharedSecret?) throws
        -> LAPersistedRight
    {
        let items = try RightItems()
        // Without a passcode there is no presence to require, and the items could not be stored.
        if try !items.keychain.presenceStatus().hasPasscode { throw LAError.withoutPasscode }
        let (record, reference) = try items.add(
            right.authorization.requirement, tag: right.tag, identifier: identifier, secret: secret)
        return try LAPersistedRight(record, at: reference)
    }

    private static func remove(_ right: LAPersistedRight) throws {
        try RightItems().delete(right.record, at: right.reference)
        right.authorization.deauthorize()
    }

    private static func remove(_ identifier: String) throws {
        let items = try RightItems()
        let (record, reference) = try items.find(identifier)
        try items.delete(record, at: reference)
    }
}
