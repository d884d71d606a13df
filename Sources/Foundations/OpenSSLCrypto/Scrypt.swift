// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// scrypt (RFC 7914). Unlike in swift-crypto, the result is written directly into the caller's
/// memory and is nowhere else.
public enum Scrypt {
    /// Fills `output` with the key derived from `password`. N is `2^costExponent`; the derivation
    /// uses `128 · N · blockSize` bytes of memory.
    ///
    /// - Throws: ``OpenSSLError`` if the parameters are not valid or the memory cannot be
    ///   allocated.
    public static func derive(
        _ password: UnsafeRawBufferPointer, salt: [UInt8], costExponent: UInt8, blockSize: UInt32, parallelism: UInt32,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        let rounds = UInt64(1) << UInt64(costExponent)
        // The limit includes libcrypto's own blocks.
        let memory = 128 * UInt64(blockSize) * (rounds + UInt64(parallelism) + 2)
        let status = EVP_PBE_scrypt(
            password.assumingMemoryBound(to: CChar.self).baseAddress, password.count, salt, salt.count, rounds,
            UInt64(blockSize),
            UInt64(parallelism), memory, output.assumingMemoryBound(to: UInt8.self).baseAddress, output.count)
        guard status == 1 else { throw .last("scrypt") }
    }
}
