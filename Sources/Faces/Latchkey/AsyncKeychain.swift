// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import LatchkeyClient
public import SecretMemory

/// The calls of a keychain for tasks: they suspend the task instead of blocking its thread.
///
/// ```swift
/// let secret = try await Keychain.default.async.string(for: alice)
/// ```
///
/// Each call runs on one of at most 16 threads that this process keeps for such calls, never on the threads of Swift's
/// concurrency. Calls start in the order they were made.
///
/// If the task is cancelled before its call has started, the call throws errSecUserCanceled
/// (`OSStatusCode.userCanceled`) and changes nothing. A call that has started is not interrupted: it
/// returns its result, and a change is made.
public struct AsyncKeychain: Sendable {
    let keychain: Keychain
}

extension Keychain {
    /// The same calls for tasks that must not block. They are in a type of their own, because an overload would hide
    /// the synchronous call from asynchronous functions.
    public var async: AsyncKeychain { AsyncKeychain(keychain: self) }

    /// Runs several calls on this keychain, one after the other, on a thread for blocking calls.
    ///
    /// ```swift
    /// let secret = try await Keychain.default.perform { keychain throws(KeychainError) in
    ///     try keychain.string(for: item)
    /// }
    /// ```
    ///
    /// - Throws: errSecUserCanceled if the task is cancelled before `body` starts; the error that
    ///   `body` throws.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Keychain) throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        try await KeychainClient.perform { () throws(KeychainError) in try body(self) }
    }
}

// MARK: Secrets

extension AsyncKeychain {
    /// Stores the secret under this item, as ``Keychain/set(_:to:)`` does.
    public func set(_ item: some PasswordItem, to secret: some SecretConvertible) async throws(KeychainError) {
        let bytes = secret.sharedSecret()
        try await keychain.perform { keychain throws(KeychainError) in try keychain.set(item, to: bytes) }
    }

    /// Stores the value as JSON under this item, as ``Keychain/set(_:toValue:)`` does.
    public func set(_ item: some PasswordItem, toValue value: some Encodable & Sendable) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.set(item, toValue: value) }
    }

    /// Stores a new item, as ``Keychain/add(_:secret:)`` does.
    public func add(_ item: some PasswordItem, secret: some SecretConvertible) async throws(KeychainError) {
        let bytes = secret.sharedSecret()
        try await keychain.perform { keychain throws(KeychainError) in try keychain.add(item, secret: bytes) }
    }

    /// Stores a new item with the value as JSON, as ``Keychain/add(_:value:)`` does.
    public func add(_ item: some PasswordItem, value: some Encodable & Sendable) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.add(item, value: value) }
    }

    /// Returns the item's secret, as ``Keychain/secret(for:)`` does.
    public func secret(for item: some PasswordItem) async throws(KeychainError) -> SecretBytes {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.sharedSecret(for: item) }.copy()
    }

    /// Returns the item's secret as text, as ``Keychain/string(for:)`` does.
    public func string(for item: some PasswordItem) async throws(KeychainError) -> String {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.string(for: item) }
    }

    /// Returns the item's secret as Data, as ``Keychain/data(for:)`` does.
    public func data(for item: some PasswordItem) async throws(KeychainError) -> Data {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.data(for: item) }
    }

    /// Returns the value that is the item's secret, as ``Keychain/value(_:for:)`` does.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type, for item: some PasswordItem
    ) async throws(KeychainError) -> Value {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.value(type, for: item) }
    }
}

// MARK: Items

extension AsyncKeychain {
    /// Returns whether the item exists.
    public func contains(_ item: some PasswordItem) async throws(KeychainError) -> Bool {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.contains(item) }
    }

    /// Returns every item of this type that satisfies the condition, as
    /// ``Keychain/items(_:matching:)`` does.
    public func items<Item: PasswordItem>(
        _ type: Item.Type, matching condition: Item.Condition = .init()
    ) async throws(KeychainError) -> [Item] {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.items(type, matching: condition) }
    }

    /// Deletes the item.
    ///
    /// - Throws: `KeychainError.itemNotFound`.
    public func delete(_ item: some PasswordItem) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.delete(item) }
    }

    /// Checks every row and returns the findings about damaged ones, as ``Keychain/findings()``
    /// does.
    public func findings() async throws(KeychainError) -> [KeychainFinding] {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.findings() }
    }
}

// MARK: The lock

extension AsyncKeychain {
    /// The lock state. A keychain without a passcode is always unlocked.
    public var lockState: LockState {
        get async throws(KeychainError) {
            try await keychain.perform { keychain throws(KeychainError) in try keychain.lockState }
        }
    }

    /// The state of the lock, the passcode and the settings.
    public var lockStatus: LockStatus {
        get async throws(KeychainError) {
            try await keychain.perform { keychain throws(KeychainError) in try keychain.lockStatus }
        }
    }

    /// Unlocks the keychain, as ``Keychain/unlock(passcode:)`` does.
    public func unlock(passcode: some SecretConvertible) async throws(KeychainError) {
        let passcode = passcode.sharedSecret()
        try await keychain.perform { keychain throws(KeychainError) in try keychain.unlock(passcode: passcode) }
    }

    /// Locks the keychain after the grace period of the settings.
    public func lock(immediately: Bool = false) async throws(KeychainError) {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.lock(immediately: immediately) }
    }

    /// Returns the current lock state and every later one, until the task that reads the stream
    /// ends, as ``Keychain/lockStates()`` does.
    public func lockStates() async throws(KeychainError) -> AsyncStream<LockState> {
        try await keychain.perform { keychain throws(KeychainError) in try keychain.lockStates() }
    }

    /// Sets a passcode, as ``Keychain/setPasscode(_:)`` does.
    public func setPasscode(_ new: some SecretConvertible) async throws(KeychainError) {
        let new = new.sharedSecret()
        try await keychain.perform { keychain throws(KeychainError) in try keychain.setPasscode(new) }
    }

    /// Replaces the passcode, as ``Keychain/changePasscode(from:to:rotatingKeys:)`` does.
    public func changePasscode(
        from old: some SecretConvertible, to new: some SecretConvertible, rotatingKeys: Bool = false
    ) async throws(KeychainError) {
        let (old, new) = (old.sharedSecret(), new.sharedSecret())
        try await keychain.perform { keychain throws(KeychainError) in
            try keychain.changePasscode(from: old, to: new, rotatingKeys: rotatingKeys)
        }
    }

    /// Removes the passcode, as ``Keychain/removePasscode(_:)`` does.
    ///
    /// - Returns: the number of destroyed items.
    @discardableResult
    public func removePasscode(_ passcode: some SecretConvertible) async throws(KeychainError) -> Int {
        let passcode = passcode.sharedSecret()
        return try await keychain.perform { keychain throws(KeychainError) in try keychain.removePasscode(passcode) }
    }
}
