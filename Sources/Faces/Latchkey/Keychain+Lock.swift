// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The lock of the keychain, and what opens it.
///
/// ```swift
/// try keychain.setPasscode("correct horse battery")
/// try keychain.lock()
/// for await state in try keychain.lockStates() { print(state) }
/// ```
///
/// Without a daemon the state is this process's own: it starts at ``LockState/beforeFirstUnlock`` and ends with the process. Judging a passcode
/// takes a noticeable while, by design; ``Keychain/perform(_:)`` does it on a thread of its own.
extension Keychain {
    /// Where the lock stands. A keychain without a passcode is always unlocked.
    public var lockState: LockState {
        get throws(KeychainError) { try open().lockStatus().state }
    }

    /// What the keychain says of its lock, its passcode and its settings.
    public var lockStatus: LockStatus {
        get throws(KeychainError) { try open().lockStatus() }
    }

    /// Opens what the passcode opens; does nothing where there is none.
    ///
    /// - Throws: `KeychainError.authFailed` for a wrong passcode, and while a delay after several wrong ones is running.
    public func unlock(passcode: some SecretConvertible) throws(KeychainError) {
        try open().unlock(passcode.sharedSecret()) { _, _ in }
    }

    /// Closes what the lock closes, after the grace of the settings.
    public func lock(immediately: Bool = false) throws(KeychainError) {
        try open().lock(immediately: immediately)
    }

    /// The state now, and every new one, until the task that reads it ends.
    public func lockStates() throws(KeychainError) -> AsyncStream<LockState> {
        let service = try open()
        let (stream, continuation) = AsyncStream.makeStream(of: LockState.self, bufferingPolicy: .bufferingNewest(16))
        let number = service.addLockObserver { continuation.yield($0) }
        continuation.onTermination = { _ in service.removeLockObserver(number) }
        // Looked at once nothing can be missed any more.
        continuation.yield(try service.lockStatus().state)
        return stream
    }

    // MARK: The passcode

    /// Protects the keychain by a passcode of at least six characters; every item that it protects is sealed anew.
    ///
    /// - Throws: errSecParam where one is set already, or the new one is too short.
    public func setPasscode(_ new: some SecretConvertible) throws(KeychainError) {
        try open().setPasscode(new.sharedSecret()) { _, _ in }
    }

    /// - Parameter rotatingKeys: also makes new keys and seals every item under them.
    public func changePasscode(
        from old: some SecretConvertible, to new: some SecretConvertible, rotatingKeys: Bool = false
    ) throws(KeychainError) {
        try open().changePasscode(from: old.sharedSecret(), to: new.sharedSecret(), rotates: rotatingKeys) { _, _ in }
    }

    /// Removes the passcode, and destroys every item of the class whenPasscodeSetThisDeviceOnly.
    ///
    /// - Returns: how many items were destroyed.
    @discardableResult
    public func removePasscode(_ passcode: some SecretConvertible) throws(KeychainError) -> Int {
        try open().removePasscode(passcode.sharedSecret()) { _, _ in }
    }
}
