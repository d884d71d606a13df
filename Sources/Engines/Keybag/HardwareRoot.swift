// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// Hardware that seals device keys, limits how often a passcode can be tried, and counts the changes
/// of a keybag.
///
/// A ``HardwareIndex`` identifies the data that it keeps for a keybag outside of files.
public protocol HardwareRoot: DeviceKeySealer {
    /// Announces a use of the hardware, so that slow work can begin. It returns at once.
    func prepare()

    /// Returns the hardware's description of itself, in one line.
    ///
    /// - Throws: errSecNotAvailable if it does not answer.
    func describe() throws(KeychainError) -> String

    /// Seals a device key to the present values of registers, and to a code that opens it when they
    /// have others. ``DeviceKeySealer/unseal(_:)`` opens it as long as they are the same.
    ///
    /// - Throws: errSecParam for registers that do not exist, errSecNotAvailable.
    func seal(_ key: SharedSecret, to registers: RegisterBinding) throws(KeychainError) -> [UInt8]

    /// Opens a device key with the code, for any values of the registers.
    ///
    /// - Parameter authorization: the value that is derived from the code.
    /// - Throws: errSecAuthFailed for another code; errSecParam if it has none.
    func unseal(_ sealed: [UInt8], authorization: SharedSecret) throws(KeychainError) -> SharedSecret

    /// Returns the registers that a device key is sealed to; empty for none.
    ///
    /// - Throws: errSecDecode for damaged bytes.
    func registers(of sealed: [UInt8]) throws(KeychainError) -> Set<UInt8>

    /// Seals a secret of 32 bytes to a PIN.
    ///
    /// - Parameters:
    ///   - pin: 32 bytes that are derived from the passcode.
    ///   - limit: how many wrong PINs are accepted until the next right one.
    /// - Throws: errSecNotAvailable.
    func seal(_ secret: SharedSecret, pin: SharedSecret, limit: Int) throws(KeychainError) -> PINSecret

    /// Opens a secret with its PIN. Each wrong one is counted where no copy of a file resets it.
    ///
    /// - Throws: ``KeybagError/wrongPasscode``, ``KeybagError/passcodeLimitReached``,
    ///   ``KeybagError/hardware(_:)``.
    func unseal(_ secret: PINSecret, pin: SharedSecret) throws(KeybagError) -> SharedSecret

    /// Creates a counter that only counts up.
    ///
    /// - Parameter authorization: 32 bytes that counting and reading need.
    func createCounter(authorization: SharedSecret) throws(KeychainError) -> (index: HardwareIndex, value: UInt64)

    func value(of counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64

    /// Counts to the next value, and returns it. The number of these changes in the life of the
    /// hardware is limited.
    func increment(_ counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64

    /// Removes a counter, or the PIN limit of a ``PINSecret``. It is no error if it does not exist.
    func remove(_ index: HardwareIndex) throws(KeychainError)
}

/// The number and the digest of data that the hardware keeps for a keybag, 38 bytes.
public struct HardwareIndex: Hashable, Sendable {
    public let bytes: [UInt8]

    public static let length = 38

    /// Returns nil for another number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}

/// A secret that is sealed to a PIN.
public struct PINSecret: Hashable, Sendable {
    /// The counter of wrong PINs.
    public let index: HardwareIndex
    /// The sealed secret, up to ``maxObjectLength`` bytes.
    public let object: [UInt8]

    public static let maxObjectLength = 2048

    /// Returns nil if `object` is empty or too long.
    public init?(index: HardwareIndex, object: [UInt8]) {
        guard 1...Self.maxObjectLength ~= object.count else { return nil }
        (self.index, self.object) = (index, object)
    }

    var encoded: [UInt8] { index.bytes + object }

    /// Returns nil if the bytes are too few or too many.
    init?(_ bytes: [UInt8]) {
        guard let index = HardwareIndex(Array(bytes.prefix(HardwareIndex.length))) else { return nil }
        self.init(index: index, object: Array(bytes.dropFirst(HardwareIndex.length)))
    }
}
