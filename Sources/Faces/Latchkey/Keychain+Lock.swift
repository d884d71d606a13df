// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The lock of the keychain, and the passcode that unlocks it.
///
/// ```swift
/// try keychain.setPasscode("correct horse battery")
/// try keychain.lock()
/// for await state in try keychain.lockStates() { print(state) }
/// ```
///
/// Without a daemon the lock state belongs to this process: it starts at
/// ``LockState/beforeFirstUnlock`` and ends with the process. Verifying a passcode is slow by
/// design; ``Keychain/async`` has the same calls for tasks.
extension Keychain {
    /// The lock state. A keychain without a passcode is always unlocked.
    public var lockState: LockState {
        get throws(KeychainError) { try open().settledLockStatus().state }
    }

    /// The state of the lock, the passcode and the settings.
    public var lockStatus: LockStatus {
        get throws(KeychainError) { try open().settledLockStatus() }
    }

    /// Unlocks the keychain. Does nothing if it has no passcode.
    ///
    /// - Throws: `KeychainError.authFailed` for a wrong passcode, and during the delay after
    ///   several wrong ones.
    public func unlock(passcode: some SecretConvertible) throws(KeychainError) {
        try open().unlock(passcode.sharedSecret()) { _, _ in }
    }

    /// Locks the keychain after the grace period of the settings.
    public func lock(immediately: Bool = false) throws(KeychainError) {
        try open().lock(immediately: immediately)
    }

    /// Returns the current lock state and every later one, until the task that reads the stream
    /// ends. When the daemon that holds the keychain ends, that is ``LockState/beforeFirstUnlock``.
    public func lockStates() throws(KeychainError) -> AsyncStream<LockState> {
        let keychain = try open()
        let (stream, continuation) = AsyncStream.makeStream(of: LockState.self, bufferingPolicy: .bufferingNewest(16))
        let hasChanged = SystemMutex(false)
        let number = keychain.addLockObserver { state in
            hasChanged.withLock { hasChanged in
                hasChanged = true
                continuation.yield(state ?? .beforeFirstUnlock)
            }
        }
        continuation.onTermination = { _ in keychain.removeLockObserver(number) }
        // Read after the observer is registered, so that no change is missed. A change that was
        // reported meanwhile is newer.
        let current = try keychain.settledLockStatus().state
        hasChanged.withLock { hasChanged in
            if !hasChanged { continuation.yield(current) }
        }
        return stream
    }

    // MARK: The passcode

    /// Sets a passcode of at least six characters. Every item that it protects is encrypted again.
    ///
    /// - Throws: errSecParam if a passcode is already set, or the new one is too short.
    public func setPasscode(_ new: some SecretConvertible) throws(KeychainError) {
        try open().setPasscode(new.sharedSecret()) { _, _ in }
    }

    /// Replaces the passcode.
    ///
    /// - Parameters:
    ///   - old: the current passcode.
    ///   - new: the new passcode, of at least six characters.
    ///   - rotatingKeys: also generates new keys and encrypts every item again with them.
    public func changePasscode(
        from old: some SecretConvertible, to new: some SecretConvertible, rotatingKeys: Bool = false
    ) throws(KeychainError) {
        try open().changePasscode(from: old.sharedSecret(), to: new.sharedSecret(), rotates: rotatingKeys) { _, _ in }
    }

    /// Removes the passcode, and destroys every item of the class whenPasscodeSetThisDeviceOnly.
    ///
    /// - Returns: the number of destroyed items.
    @discardableResult
    public func removePasscode(_ passcode: some SecretConvertible) throws(KeychainError) -> Int {
        try open().removePasscode(passcode.sharedSecret()) { _, _ in }
    }
}
