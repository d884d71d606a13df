// SPDX-License-Identifier: Apache-2.0

/// SHA-1 (FIPS 180-4) of secrets. It is insecure. Unlike in swift-crypto, the working memory is wiped, because it
/// contains the last block. It needs no provider of libcrypto.
public enum SHA1 {
    public static let byteCount = DigestFunction.sha1.byteCount

    /// Returns the digest of `bytes`: 20 bytes.
    public static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        // libcrypto wipes the incomplete block of the state when it ends the message.
        var state = HashState()
        state.start(.sha1)
        state.update(.sha1, with: bytes)
        return [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            guard let start = digest.baseAddress else { return }
            state.finish(.sha1, into: start)
            count = byteCount
        }
    }
}
