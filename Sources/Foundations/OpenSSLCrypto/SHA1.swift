// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// SHA-1 (FIPS 180-4) of secrets. It is insecure. Unlike in swift-crypto, the working memory is
/// wiped, which contains the last block.
public enum SHA1 {
    public static let byteCount = 20

    /// Returns the digest of `bytes`: 20 bytes.
    public static func digest(of bytes: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 else {
            throw .last("SHA-1")
        }
        return digest
    }
}
