// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The maximum sizes of every item.
public enum ItemLimits {
    /// The maximum size of the secret half of an item, in bytes. Store larger data in a file, and
    /// its key in the keychain.
    public static let maxSecretSize = 4 << 20
    /// The maximum size of all attributes of an item, in bytes.
    static let maxMetadataSize = 1 << 20

    /// Throws errSecDataTooLarge for a secret half of more than ``maxSecretSize`` bytes.
    public static func checkSecret(size: Int) throws(KeychainError) {
        guard size <= maxSecretSize else {
            throw KeychainError(
                .dataTooLarge, "the data has \(size) bytes; an item may hold at most \(maxSecretSize)",
                hint: "store it as a file: latchkey protect move --to-keychain NAME FILE")
        }
    }

    /// Throws errSecDataTooLarge for attributes of more than ``maxMetadataSize`` bytes.
    static func checkMetadata(size: Int) throws(KeychainError) {
        guard size <= maxMetadataSize else {
            throw KeychainError(
                .dataTooLarge, "the attributes have \(size) bytes; an item may hold at most \(maxMetadataSize)")
        }
    }
}
