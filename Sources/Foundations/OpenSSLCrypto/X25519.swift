// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// Diffie-Hellman with Curve25519 (RFC 7748, section 5), with the private key and the result in
/// secret memory.
///
/// While a call runs, libcrypto has one copy of the private key in its own, ordinary memory. This memory may be swapped
/// or dumped. libcrypto wipes the copy when the key is freed, before the call returns, and writes the shared secret to
/// our memory only. Registers and its stack are not examined.
public enum X25519 {
    /// The length of a private key, a public key and a shared secret in bytes.
    public static let byteCount = 32

    /// Returns the public key of a private key: 32 bytes. Any 32 bytes are a private key.
    public static func publicKey(of privateKey: borrowing SecretBytes) throws(OpenSSLError) -> [UInt8] {
        let key = try Key(privateKey: privateKey)
        var (bytes, count) = ([UInt8](repeating: 0, count: byteCount), byteCount)
        guard EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count) == 1, count == byteCount else {
            throw .last("X25519")
        }
        return bytes
    }

    /// Returns the shared secret of a private key and the public key of another one: 32 bytes.
    ///
    /// - Parameters:
    ///   - own: the public key of the private key. libcrypto would compute it otherwise, and this takes as long as the
    ///     agreement. The result does not depend on it.
    ///   - peer: the public key of the other one.
    /// - Throws: ``OpenSSLError`` if a public key does not have 32 bytes, and if that of the other one has a small
    ///   order, because it would make the secret zero (RFC 7748, section 6.1).
    public static func sharedSecret(
        _ privateKey: borrowing SecretBytes, own: [UInt8], peer: [UInt8]
    ) throws(OpenSSLError) -> SecretBytes {
        let key = try Key(privateKey: privateKey, publicKey: own)
        let peer = try Key(publicKey: peer)
        guard let context = EVP_PKEY_CTX_new(key.pointer, nil) else { throw .last("X25519") }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 else {
            throw .last("X25519")
        }
        return try SecretBytes(count: byteCount) { (output) throws(OpenSSLError) in
            var count = output.count
            let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
            guard EVP_PKEY_derive(context, start, &count) == 1, count == byteCount else { throw .last("X25519") }
        }
    }

    /// A key of libcrypto. libcrypto wipes a private key when it frees it.
    private final class Key {
        let pointer: OpaquePointer

        init(privateKey: borrowing SecretBytes) throws(OpenSSLError) {
            let key = privateKey.withUnsafeBytes {
                EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, $0.octets, $0.count)
            }
            guard let key else { throw .last("X25519") }
            pointer = key
        }

        /// - Parameter publicKey: that of the private key.
        init(privateKey: borrowing SecretBytes, publicKey: [UInt8]) throws(OpenSSLError) {
            pointer = try privateKey.withUnsafeBytes { (privateKey) throws(OpenSSLError) in
                try publicKey.withUnsafeBufferPointer { (publicKey) throws(OpenSSLError) in
                    var parameters = KeyParameters()
                    parameters.add("priv", octets: privateKey)
                    parameters.add("pub", octets: UnsafeRawBufferPointer(publicKey))
                    return try parameters.withParameters { (list) throws(OpenSSLError) in
                        try AsymmetricKey.make("X25519", LATCHKEY_KEYPAIR, list)
                    }
                }
            }
        }

        init(publicKey: [UInt8]) throws(OpenSSLError) {
            guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, publicKey.count) else {
                throw .last("X25519")
            }
            pointer = key
        }

        deinit { EVP_PKEY_free(pointer) }
    }
}
