// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SecretMemory

/// HKDF (RFC 5869) and HMAC (RFC 2104) with SHA-256, PBKDF2 and X9.63, for keys. Unlike in swift-crypto, the working
/// memory is wiped, because it contains the last block of a key.
///
/// HKDF and HMAC need no provider of libcrypto. The start of a provider costs as much as a whole command.
public enum KeyDerivation {
    /// Fills `output` with `HKDF-SHA256(ikm = key, salt = "", info = info)`.
    ///
    /// - Parameter output: at most 8,160 bytes (RFC 5869, section 2.3).
    public static func hkdf(_ key: UnsafeRawBufferPointer, info: [UInt8], into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count <= 255 * HMACKey.codeByteCount, "HKDF-SHA256 derives at most 8,160 bytes")
        // Without a salt, the key of the extraction is a block of zeros, as is an empty key.
        let extracted = SecretBytes(count: HMACKey.codeByteCount) { extracted in
            HMACKey(UnsafeRawBufferPointer(start: nil, count: 0)).writeCode(of: key, to: extracted)
        }
        extracted.withUnsafeBytes { extracted in
            info.withUnsafeBytes { info in expand(extracted, info: info, into: output) }
        }
    }

    /// HKDF-Expand (RFC 5869, section 2.3): `T(n) = HMAC(key, T(n - 1) ‖ info ‖ n)`.
    private static func expand(
        _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        let last = SecretBuffer(count: HMACKey.codeByteCount)
        last.withUnsafeMutableBytes { last in
            var filled = 0
            var number: UInt8 = 0
            while filled < output.count {
                var state = HMACState()
                state.start(.sha256, key: key)
                if number > 0 { state.update(with: UnsafeRawBufferPointer(last)) }
                number += 1
                state.update(with: info)
                withUnsafeBytes(of: number) { state.update(with: $0) }
                state.finish(into: last)
                let count = min(last.count, output.count - filled)
                output[filled..<filled + count].copyBytes(from: last.prefix(count))
                filled += count
            }
        }
    }

    /// Returns `HMAC-SHA256(key, message)`: 32 bytes.
    public static func hmac(_ message: [UInt8], key: UnsafeRawBufferPointer) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: HMACKey.codeByteCount)
        var state = HMACState()
        state.start(.sha256, key: key)
        message.withUnsafeBytes { state.update(with: $0) }
        code.withUnsafeMutableBytes { state.finish(into: $0) }
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
                // The names are static, because libcrypto keeps the pointers to them.
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
