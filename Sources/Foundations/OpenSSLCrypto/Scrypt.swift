// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// scrypt (RFC 7914). Unlike swift-crypto's, the result is written straight into the caller's memory and lies nowhere else.
public enum Scrypt {
    /// Fills `output` with the key that `password` gives. N is `2^costExponent`; it takes `128 · N · blockSize` bytes of memory.
    ///
    /// - Throws: ``OpenSSLError`` where the parameters are impossible or the memory is not to be had.
    public static func derive(
        _ password: UnsafeRawBufferPointer, salt: [UInt8], costExponent: UInt8, blockSize: UInt32, parallelism: UInt32,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        let rounds = UInt64(1) << UInt64(costExponent)
        // libcrypto counts its own blocks into the limit.
        let memory = 128 * UInt64(blockSize) * (rounds + UInt64(parallelism) + 2)
        let status = EVP_PBE_scrypt(
            password.assumingMemoryBound(to: CChar.self).baseAddress, password.count, salt, salt.count, rounds,
            UInt64(blockSize),
            UInt64(parallelism), memory, output.assumingMemoryBound(to: UInt8.self).baseAddress, output.count)
        guard status == 1 else { throw .last("scrypt") }
    }
}
