// SPDX-License-Identifier: Apache-2.0

public import struct Crypto.SymmetricKey
internal import SecretMemory

extension ConstraintKey {
    /// Wraps the key of a secret half in 40 bytes. The class key wraps them once more.
    public func wrap(_ key: SymmetricKey) throws(KeybagError) -> [UInt8] {
        try secret.withUnsafeBytes { (bytes) throws(KeybagError) in try KeybagCryptography.wrap(key, under: bytes) }
    }

    /// Unwraps the result of ``wrap(_:)``.
    ///
    /// - Throws: ``KeybagError/wrongKey`` if the application password is wrong, or if another key
    ///   has wrapped it.
    public func unwrap(_ wrapped: [UInt8]) throws(KeybagError) -> SymmetricKey {
        try secret.withUnsafeBytes { (bytes) throws(KeybagError) in
            try KeybagCryptography.unwrap(wrapped[...], under: bytes)
        }
    }
}
