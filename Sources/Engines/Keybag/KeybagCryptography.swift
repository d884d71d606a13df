// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import OpenSSLCrypto
internal import SecretMemory

/// Every primitive that the keybag uses: HKDF-SHA256 (RFC 5869), AES key wrap (RFC 3394),
/// HMAC-SHA256 (RFC 2104) and SHA-256.
enum KeybagCryptography {
    /// Derives 32 bytes: `HKDF-SHA256(ikm = key, salt = "", info = label ‖ context)`.
    static func derive(from key: borrowing SecretBytes, label: String, context: [UInt8] = []) -> SecretBytes {
        key.withUnsafeBytes { bytes in
            SecretBytes(count: 32) { KeyDerivation.hkdf(bytes, info: Array(label.utf8) + context, into: $0) }
        }
    }

    /// Returns HMAC-SHA256 of `message`: 32 bytes.
    static func authenticationCode(of message: [UInt8], key: borrowing SecretBytes) -> [UInt8] {
        key.withUnsafeBytes { KeyDerivation.hmac(message, key: $0) }
    }

    /// Returns SHA-256 (FIPS 180-4) of a message that is not secret: 32 bytes.
    static func digest(of message: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: message)) }

    static func isValid(_ code: [UInt8], of message: [UInt8], key: borrowing SecretBytes) -> Bool {
        let expected = SharedSecret(copying: authenticationCode(of: message, key: key))
        // `SharedSecret` compares in constant time.
        return expected == SharedSecret(copying: code)
    }

    /// Wraps a 32-byte key with AES-KW: 40 bytes.
    static func wrap(_ key: SymmetricKey, under wrapping: UnsafeRawBufferPointer) throws(KeybagError) -> [UInt8] {
        do {
            return Array(try AES.KeyWrap.wrap(key, using: SymmetricKey(data: wrapping)))
        } catch {
            throw .damaged("a key could not be wrapped")
        }
    }

    /// Unwraps a key that ``wrap(_:under:)`` has wrapped, directly into secret memory.
    static func unwrapSecret(_ wrapped: [UInt8], under wrapping: UnsafeRawBufferPointer) throws(KeybagError)
        -> SecretMemory.SharedSecret
    {
        guard let key = wrapped.withUnsafeBytes({ AESKeyWrap.unwrap($0, under: wrapping) }) else { throw .wrongKey }
        return key
    }

    /// Unwraps the key of a row half. swift-crypto is faster, but leaves a copy of the key in memory
    /// that was released: the key opens only that half.
    static func unwrap(_ wrapped: ArraySlice<UInt8>, under wrapping: UnsafeRawBufferPointer) throws(KeybagError)
        -> SymmetricKey
    {
        let key = wrapped.withUnsafeBytes {
            try? AES.KeyWrap.unwrap(BorrowedBytes($0), using: SymmetricKey(data: wrapping))
        }
        guard let key else { throw .wrongKey }
        return key
    }
}
