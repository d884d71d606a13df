// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import OpenSSLCrypto
internal import SecretMemory

/// Every primitive that the keybag calls: HKDF-SHA256 (RFC 5869), AES key wrap (RFC 3394), HMAC-SHA256 (RFC 2104) and SHA-256.
enum KeybagCryptography {
    /// `HKDF-SHA256(ikm = key, salt = "", info = label ‖ context)`, 32 bytes.
    static func derive(from key: borrowing SecretBytes, label: String, context: [UInt8] = []) -> SecretBytes {
        key.withUnsafeBytes { bytes in
            SecretBytes(count: 32) { buffer in
                withoutFailure { () throws(OpenSSLError) in
                    try KeyDerivation.hkdf(bytes, info: Array(label.utf8) + context, into: buffer)
                }
            }
        }
    }

    /// HMAC-SHA256 of `message`, 32 bytes.
    static func authenticationCode(of message: [UInt8], key: borrowing SecretBytes) -> [UInt8] {
        key.withUnsafeBytes { bytes in
            withoutFailure { () throws(OpenSSLError) in try KeyDerivation.hmac(message, key: bytes) }
        }
    }

    /// SHA-256 (FIPS 180-4) of what is no secret, 32 bytes.
    static func digest(of message: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: message)) }

    static func isValid(_ code: [UInt8], of message: [UInt8], key: borrowing SecretBytes) -> Bool {
        let expected = SharedSecret(copying: authenticationCode(of: message, key: key))
        // In constant time.
        return expected == SharedSecret(copying: code)
    }

    /// HKDF and HMAC with SHA-256 fail only for want of memory, which stops the process as it does everywhere in Swift.
    private static func withoutFailure<Result>(_ body: () throws(OpenSSLError) -> Result) -> Result {
        do {
            return try body()
        } catch {
            preconditionFailure("libcrypto has no memory left, because nothing else makes SHA-256 fail: \(error)")
        }
    }

    /// AES-KW of a 32-byte key under another: 40 bytes.
    static func wrap(_ key: SymmetricKey, under wrapping: UnsafeRawBufferPointer) throws(KeybagError) -> [UInt8] {
        do {
            return Array(try AES.KeyWrap.wrap(key, using: SymmetricKey(data: wrapping)))
        } catch {
            throw .damaged("a key could not be wrapped")
        }
    }

    /// The key that ``wrap(_:under:)`` wrapped.
    static func unwrap(_ wrapped: some DataProtocol, under wrapping: UnsafeRawBufferPointer) throws(KeybagError)
        -> SymmetricKey
    {
        do {
            return try AES.KeyWrap.unwrap(wrapped, using: SymmetricKey(data: wrapping))
        } catch {
            throw .wrongKey
        }
    }
}
