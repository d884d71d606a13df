// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
public import KeychainModel

/// The part of a keybag that the item store uses: it wraps and unwraps the item keys of rows, and
/// has the key of the search tokens.
public protocol ItemKeyWrapping: Sendable {
    /// The UUID of the keychain, 16 bytes: part of every row's authenticated data.
    var keychain: [UInt8] { get }

    /// A number that changes with every change of the keybag.
    var generation: UInt64 { get }

    /// Returns the generation that new rows of the class are sealed under.
    ///
    /// - Throws: ``KeybagError/passcodeRequired(_:)`` if the class has no key,
    ///   ``KeybagError/closed(_:)`` if it is locked.
    func currentGeneration(of protection: ProtectionClass) throws(KeybagError) -> UInt32

    /// Wraps the item key of one row half: 40 bytes.
    func wrap(_ key: SymmetricKey, of half: RowHalf, protection: ProtectionClass, generation: UInt32)
        throws(KeybagError) -> [UInt8]

    /// Unwraps an item key that ``wrap(_:of:protection:generation:)`` has wrapped.
    func unwrap(
        _ wrapped: ArraySlice<UInt8>, of half: RowHalf, protection: ProtectionClass, generation: UInt32
    ) throws(KeybagError) -> SymmetricKey

    /// The public keys that constraints of rows are sealed to.
    var presence: PresenceRecipients { get }

    /// The key of the search tokens.
    var tokenKey: TokenKey { get }
}

/// The two separately sealed parts of a row. The raw value is part of the authenticated data.
public enum RowHalf: UInt8, Sendable {
    /// The data and the secret attributes.
    case secret = 1
    /// Every other attribute, names included.
    case metadata = 2
}
