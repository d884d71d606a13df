// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// AES key wrap (RFC 3394) into secret memory. swift-crypto unwraps into an array that it
/// releases without wiping it. libcrypto may leave the last block, a part of the key, on the stack.
public enum AESKeyWrap {
    /// The number of bytes that wrapping adds.
    public static let overhead = 8

    /// Wraps a key.
    ///
    /// - Parameters:
    ///   - key: a multiple of 8 bytes, at least 16.
    ///   - wrapping: 16, 24 or 32 bytes.
    ///   - initial: 8 bytes; nil for the initial value of the RFC (section 2.2.3.1).
    /// - Returns: nil if a length is invalid.
    public static func wrap(
        _ key: UnsafeRawBufferPointer, under wrapping: UnsafeRawBufferPointer, initial: UnsafeRawBufferPointer? = nil
    ) -> [UInt8]? {
        guard [16, 24, 32].contains(wrapping.count), key.count >= 2 * overhead, key.count.isMultiple(of: 8),
            initial?.count ?? overhead == overhead,
            let count = UInt32(exactly: key.count), let expected = Int32(exactly: key.count + overhead)
        else { return nil }
        var wrapped = [UInt8](repeating: 0, count: key.count + overhead)
        let written = latchkey_aes_wrap_key(
            wrapping.octets, Int32(wrapping.count * 8), initial?.octets, key.octets, count, &wrapped)
        return written == expected ? wrapped : nil
    }

    /// Unwraps a key directly into secret memory.
    ///
    /// - Parameters:
    ///   - wrapped: a multiple of 8 bytes, at least 24.
    ///   - wrapping: 16, 24 or 32 bytes.
    ///   - initial: 8 bytes; nil for the initial value of the RFC.
    /// - Returns: nil if the lengths are invalid, or if the key was not wrapped under `wrapping` with
    ///   this initial value.
    public static func unwrap(
        _ wrapped: UnsafeRawBufferPointer, under wrapping: UnsafeRawBufferPointer,
        initial: UnsafeRawBufferPointer? = nil
    ) -> SharedSecret? {
        guard [16, 24, 32].contains(wrapping.count), wrapped.count >= 3 * overhead, wrapped.count.isMultiple(of: 8),
            initial?.count ?? overhead == overhead,
            let count = UInt32(exactly: wrapped.count), let expected = Int32(exactly: wrapped.count - overhead)
        else { return nil }
        var isUnwrapped = false
        let key = SecretBytes(count: wrapped.count - overhead) { key in
            let start = key.assumingMemoryBound(to: UInt8.self).baseAddress
            isUnwrapped =
                latchkey_aes_unwrap_key(
                    wrapping.octets, Int32(wrapping.count * 8), initial?.octets, wrapped.octets, count, start)
                == expected
        }
        return isUnwrapped ? SharedSecret(key) : nil
    }
}
