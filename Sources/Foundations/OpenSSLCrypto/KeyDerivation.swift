// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// HKDF (RFC 5869) and HMAC (RFC 2104) with SHA-256, PBKDF2 and X9.63, for keys. Unlike in
/// swift-crypto, the working memory is wiped, which contains the last block of a key.
public enum KeyDerivation {
    /// Fills `output` with `HKDF-SHA256(ikm = key, salt = "", info = info)`.
    public static func hkdf(_ key: UnsafeRawBufferPointer, info: [UInt8], into output: UnsafeMutableRawBufferPointer)
        throws(OpenSSLError)
    {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { throw .last("HKDF") }
        defer { EVP_PKEY_CTX_free(context) }
        var length = output.count
        let bytes = key.assumingMemoryBound(to: UInt8.self).baseAddress
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
            EVP_PKEY_CTX_set1_hkdf_key(context, bytes, Int32(key.count)) == 1,
            EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1,
            EVP_PKEY_derive(context, output.assumingMemoryBound(to: UInt8.self).baseAddress, &length) == 1,
            length == output.count
        else { throw .last("HKDF") }
    }

    /// Returns `HMAC-SHA256(key, message)`: 32 bytes.
    public static func hmac(_ message: [UInt8], key: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = HMAC(EVP_sha256(), key.baseAddress, Int32(key.count), message, message.count, &code, &length)
        guard made != nil, length == 32 else { throw .last("HMAC") }
        return code
    }

    /// Fills `output` with the key that PBKDF2 (RFC 8018, 5.2) derives with HMAC of `hash`.
    ///
    /// - Parameter rounds: the number of iterations, at least 1.
    /// - Throws: ``OpenSSLError``, also if a length exceeds `Int32.max`.
    public static func pbkdf2(
        _ password: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, hash: HashFunction, rounds: Int32,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        guard rounds > 0, let passwordCount = Int32(exactly: password.count),
            let saltCount = Int32(exactly: salt.count),
            let outputCount = Int32(exactly: output.count)
        else {
            throw OpenSSLError(
                message: "PBKDF2: the iterations must be positive, and no length may exceed \(Int32.max) bytes")
        }
        let status = PKCS5_PBKDF2_HMAC(
            password.assumingMemoryBound(to: CChar.self).baseAddress, passwordCount, salt.octets, saltCount, rounds,
            hash.algorithm,
            outputCount, output.assumingMemoryBound(to: UInt8.self).baseAddress)
        guard status == 1 else { throw .last("PBKDF2") }
    }

    /// Fills `output` with the key that ANSI X9.63 derives: `hash(secret ‖ counter ‖ info)` for the
    /// counters 1, 2, … of four bytes.
    public static func x963(
        _ secret: UnsafeRawBufferPointer, info: [UInt8], hash: HashFunction, into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        guard !output.isEmpty else { return }
        guard let function = EVP_KDF_fetch(nil, "X963KDF", nil) else { throw .last("X9.63") }
        defer { EVP_KDF_free(function) }
        guard let context = EVP_KDF_CTX_new(function) else { throw .last("X9.63") }
        defer { EVP_KDF_CTX_free(context) }
        var name = Array(hash.name.utf8CString)
        var info = info
        let status = name.withUnsafeMutableBufferPointer { name in
            info.withUnsafeMutableBytes { info in
                let (digest, key, shared): (StaticString, StaticString, StaticString) = ("digest", "key", "info")
                // libcrypto keeps the pointers to the names, which are static.
                var parameters = [
                    OSSL_PARAM_construct_utf8_string(digest.characters, name.baseAddress, 0),
                    OSSL_PARAM_construct_octet_string(
                        key.characters, UnsafeMutableRawPointer(mutating: secret.baseAddress), secret.count),
                ]
                if !info.isEmpty {
                    parameters.append(
                        OSSL_PARAM_construct_octet_string(shared.characters, info.baseAddress, info.count))
                }
                parameters.append(OSSL_PARAM_construct_end())
                return EVP_KDF_derive(
                    context, output.assumingMemoryBound(to: UInt8.self).baseAddress, output.count, &parameters)
            }
        }
        guard status == 1 else { throw .last("X9.63") }
    }
}
