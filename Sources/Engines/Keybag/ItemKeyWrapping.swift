// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
public import KeychainModel

/// What the item store needs of a keybag: to wrap and unwrap the keys of rows, and the key of its search tokens.
public protocol ItemKeyWrapping: Sendable {
    /// The UUID of the keychain, 16 bytes: part of every row's authenticated data.
    var keychain: [UInt8] { get }

    /// Tells apart two states of the keybag.
    var generation: UInt64 { get }

    /// The generation under which new rows of the class are sealed.
    ///
    /// - Throws: ``KeybagError/passcodeRequired(_:)`` where the class has no key.
    func currentGeneration(of protection: ProtectionClass) throws(KeybagError) -> UInt32

    /// Wraps the key of one half of a row: 40 bytes.
    func wrap(_ key: SymmetricKey, of half: RowHalf, protection: ProtectionClass, generation: UInt32)
        throws(KeybagError) -> [UInt8]

    /// The key that ``wrap(_:of:protection:generation:)`` wrapped.
    func unwrap(
        _ wrapped: ArraySlice<UInt8>, of half: RowHalf, protection: ProtectionClass, generation: UInt32
    ) throws(KeybagError) -> SymmetricKey

    /// Lends the key of the search tokens.
    func withIndexKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

/// The two parts of a row, each sealed under a key of its own. The raw value is part of the authenticated data.
public enum RowHalf: UInt8, Sendable {
    /// The data and the secret attributes.
    case secret = 1
    /// Every other attribute, names included.
    case metadata = 2
}
