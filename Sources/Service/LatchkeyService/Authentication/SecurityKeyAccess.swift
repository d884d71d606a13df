// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The security keys that are connected to this machine.
///
/// A security key yields a secret that opens the data sealed to it. So it also protects items from the programs that
/// open the keychain themselves.
public protocol SecurityKeyAccess: Sendable {
    /// Returns the connected devices. They are not opened.
    func devices() throws(KeychainError) -> [any SecurityKeyDevice]
}

/// A connected security key. Each function opens it, and blocks until it has answered.
///
/// A function throws an error with an ``AuthenticationFailure``: `notInteractive` if the device
/// cannot be used or was removed, `systemCancel` if it was not touched in time, `failed` for
/// everything else. Secrets of the device are never in an error.
public protocol SecurityKeyDevice: Sendable {
    /// Returns whether the device asks for its PIN when it creates a credential.
    ///
    /// - Throws: errSecNotAvailable if it cannot derive secrets.
    func requiresPIN() throws(KeychainError) -> Bool

    /// Compares the device with the one that has created a credential. Needs neither a touch nor
    /// the PIN.
    func match(_ credential: [UInt8]) throws(KeychainError) -> SecurityKeyMatch

    /// Creates a credential, after a touch.
    ///
    /// - Parameters:
    ///   - pin: the PIN, if the device requires it.
    ///   - deadline: by `BootClock.system`, in nanoseconds.
    ///   - isCancelled: called again and again, on another thread.
    func createCredential(
        pin: SharedSecret?, until deadline: UInt64, isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<NewSecurityKeyCredential>

    /// Derives the secret of a credential, after a touch.
    ///
    /// - Parameters:
    ///   - pin: the PIN, if the credential requires it.
    ///   - deadline: by `BootClock.system`, in nanoseconds.
    ///   - isCancelled: called again and again, on another thread.
    /// - Returns: 32 bytes.
    func deriveSecret(
        from credential: [UInt8], pin: SharedSecret?, until deadline: UInt64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<SharedSecret>
}

/// Whether a device has created a credential.
public enum SecurityKeyMatch: Sendable, Hashable {
    /// The device has proven it.
    case own(requiresPIN: Bool)
    /// The device answers nothing without its PIN, as at its enrollment.
    case unproven
    /// Another device has created the credential.
    case other
}

/// The answer of a device that has received the PIN, or needs none.
public enum SecurityKeyAnswer<Value: Sendable>: Sendable {
    case success(Value)
    /// - Parameter attemptsLeft: how many more wrong PINs the device accepts, if it says so.
    case wrongPIN(attemptsLeft: Int?)
}

/// A credential that a device has just created.
public struct NewSecurityKeyCredential: Sendable, Hashable {
    /// The stored form (Documentation/Formats/security-key.md).
    public let credential: [UInt8]
    /// Whether the device answers nothing without its PIN.
    public let alwaysVerifies: Bool
    /// Whether deriving the secret requires the PIN.
    public let requiresPIN: Bool

    public init(credential: [UInt8], alwaysVerifies: Bool, requiresPIN: Bool) {
        self.credential = credential
        self.alwaysVerifies = alwaysVerifies
        self.requiresPIN = requiresPIN
    }
}
