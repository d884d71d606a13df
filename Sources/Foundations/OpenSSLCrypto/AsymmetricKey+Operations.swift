// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// The padding of an RSA block (RFC 8017).
public enum RSAPadding: Sendable, Hashable {
    /// No padding: the block is the number itself.
    case raw
    case pkcs1
    /// PSS, for signatures: with a salt as long as the digest, and MGF1 of the same hash.
    case pss
    /// The same with a salt of another length, in bytes.
    case pssWithSalt(Int)
    /// OAEP, for encryption: with MGF1 of this hash.
    case oaep(HashFunction, label: [UInt8] = [])
}

extension AsymmetricKey {
    final class Context {
        let pointer: OpaquePointer

        init(_ key: AsymmetricKey) throws(OpenSSLError) {
            guard let pointer = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
                throw .last("preparing a key operation")
            }
            self.pointer = pointer
        }

        deinit { EVP_PKEY_CTX_free(pointer) }

        func prepareSignature(_ padding: RSAPadding?, _ hash: HashFunction?) -> Bool {
            switch padding {
            case .raw?: guard EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_NO_PADDING) == 1 else { return false }
            case .pkcs1?: guard EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PADDING) == 1 else { return false }
            case .pss?, .pssWithSalt?:
                guard EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PSS_PADDING) == 1 else { return false }
            case .oaep?: return false
            case nil: break
            }
            guard let hash else { return true }
            guard EVP_PKEY_CTX_set_signature_md(pointer, hash.algorithm) == 1 else { return false }
            switch padding {
            case .pss?: return EVP_PKEY_CTX_set_rsa_pss_saltlen(pointer, RSA_PSS_SALTLEN_DIGEST) == 1
            // A negative number has a meaning of its own for libcrypto.
            case .pssWithSalt(let count)?:
                return count >= 0 && EVP_PKEY_CTX_set_rsa_pss_saltlen(pointer, Int32(clamping: count)) == 1
            case .raw?, .pkcs1?, .oaep?, nil: return true
            }
        }

        func prepareEncryption(_ padding: RSAPadding) -> Bool {
            switch padding {
            case .raw: EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_NO_PADDING) == 1
            case .pkcs1: EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PADDING) == 1
            case .oaep(let hash, let label):
                EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_OAEP_PADDING) == 1
                    && EVP_PKEY_CTX_set_rsa_oaep_md(pointer, hash.algorithm) == 1
                    && EVP_PKEY_CTX_set_rsa_mgf1_md(pointer, hash.algorithm) == 1
                    && setLabel(label)
            case .pss, .pssWithSalt: false
            }
        }

        private func setLabel(_ label: [UInt8]) -> Bool {
            guard !label.isEmpty else { return true }
            // libcrypto frees the copy with the context.
            guard let copy = CRYPTO_memdup(label, label.count, #fileID, #line) else { return false }
            guard EVP_PKEY_CTX_set0_rsa_oaep_label(pointer, copy, Int32(clamping: label.count)) == 1 else {
                CRYPTO_free(copy, #fileID, #line)
                return false
            }
            return true
        }
    }

    /// Signs a digest. The signature is one block for RSA, a DER `SEQUENCE` of r and s for an
    /// elliptic curve.
    ///
    /// - Parameters:
    ///   - hash: the hash of the digest; nil if the padding takes bytes as they are.
    ///   - padding: nil for an elliptic curve.
    public func signature(
        of digest: UnsafeRawBufferPointer, hash: HashFunction?, padding: RSAPadding?
    ) throws(OpenSSLError) -> [UInt8] {
        let context = try Context(self)
        guard EVP_PKEY_sign_init(context.pointer) == 1, context.prepareSignature(padding, hash) else {
            throw .last("signing")
        }
        var length = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_PKEY_sign(context.pointer, &signature, &length, digest.octets, digest.count) == 1 else {
            throw .last("signing")
        }
        signature.removeLast(signature.count - length)
        return signature
    }

    /// Whether this key made the signature of the digest.
    public func isSignature(
        _ signature: UnsafeRawBufferPointer, of digest: UnsafeRawBufferPointer, hash: HashFunction?,
        padding: RSAPadding?
    ) throws(OpenSSLError) -> Bool {
        try PreparedVerification(self, hash: hash, padding: padding).isSignature(signature, of: digest)
    }

    /// Encrypts one RSA block.
    public func encrypted(_ plaintext: UnsafeRawBufferPointer, padding: RSAPadding) throws(OpenSSLError) -> [UInt8] {
        let context = try Context(self)
        guard EVP_PKEY_encrypt_init(context.pointer) == 1, context.prepareEncryption(padding) else {
            throw .last("encrypting")
        }
        var length = Int(EVP_PKEY_get_size(pointer))
        var block = [UInt8](repeating: 0, count: length)
        guard EVP_PKEY_encrypt(context.pointer, &block, &length, plaintext.octets, plaintext.count) == 1 else {
            throw .last("encrypting")
        }
        block.removeLast(block.count - length)
        return block
    }

    /// Decrypts one RSA block.
    public func decrypted(_ block: UnsafeRawBufferPointer, padding: RSAPadding) throws(OpenSSLError) -> SecretBytes {
        let context = try Context(self)
        guard EVP_PKEY_decrypt_init(context.pointer) == 1, context.prepareEncryption(padding) else {
            throw .last("decrypting")
        }
        var length = Int(EVP_PKEY_get_size(pointer))
        let buffer = SecretBuffer(count: length)
        return try buffer.withUnsafeMutableBytes { (target) throws(OpenSSLError) in
            let bytes = target.assumingMemoryBound(to: UInt8.self).baseAddress
            guard EVP_PKEY_decrypt(context.pointer, bytes, &length, block.octets, block.count) == 1 else {
                throw .last("decrypting")
            }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: target.prefix(length)))
        }
    }

    /// Returns the x-coordinate that this private key and the other side's public key agree on (SP
    /// 800-56A, section 5.7.1.2), as long as a field element.
    ///
    /// - Parameter other: a key on the same curve; its point has been checked.
    public func keyAgreement(with other: AsymmetricKey) throws(OpenSSLError) -> SecretBytes {
        let context = try Context(self)
        // The point was checked when the key was created, and with cofactor 1 each point of the
        // curve is in the group.
        guard EVP_PKEY_derive_init(context.pointer) == 1,
            EVP_PKEY_derive_set_peer_ex(context.pointer, other.pointer, 0) == 1
        else {
            throw .last("key agreement")
        }
        var length = 0
        guard EVP_PKEY_derive(context.pointer, nil, &length) == 1 else { throw .last("key agreement") }
        return try SecretBytes(count: length) { (buffer) throws(OpenSSLError) in
            var written = length
            let bytes = buffer.assumingMemoryBound(to: UInt8.self).baseAddress
            guard EVP_PKEY_derive(context.pointer, bytes, &written) == 1, written == length else {
                throw .last("key agreement")
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes in libcrypto's type.
    var octets: UnsafePointer<UInt8>? {
        assumingMemoryBound(to: UInt8.self).baseAddress
    }
}
