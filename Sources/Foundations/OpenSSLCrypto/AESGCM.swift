// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// AES-GCM (SP 800-38D) with an initialization vector of any length; the keychain formats use 16
/// bytes. Only for keys that are used once.
public enum AESGCM {
    public static let tagLength = 16

    /// Encrypts and authenticates; returns the ciphertext followed by the tag.
    ///
    /// - Parameter key: 16 or 32 bytes.
    public static func seal(
        _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer,
        authenticating: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        let context = try Context(key, vector, isSealing: true)
        try context.authenticate(authenticating)
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagLength)
        let outcome = sealed.withUnsafeMutableBytes { target in
            Result { () throws(OpenSSLError) in
                try context.update(
                    plaintext, into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(plaintext.count)))
                guard context.finish() else { throw .last("encrypting") }
                try context.readTag(into: UnsafeMutableRawBufferPointer(rebasing: target.suffix(tagLength)))
            }
        }
        try outcome.get()
        return sealed
    }

    /// Decrypts; returns nil if the tag does not match.
    public static func open(
        _ sealed: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer,
        authenticating: [UInt8]
    ) throws(OpenSSLError) -> SharedSecret? {
        guard sealed.count >= tagLength else { return nil }
        let context = try Context(key, vector, isSealing: false)
        try context.authenticate(authenticating)
        var isAuthentic = false
        let plaintext = try SecretBytes(count: sealed.count - tagLength) { (target) throws(OpenSSLError) in
            try context.update(UnsafeRawBufferPointer(rebasing: sealed.dropLast(tagLength)), into: target)
            try context.expectTag(UnsafeRawBufferPointer(rebasing: sealed.suffix(tagLength)))
            isAuthentic = context.finish()
        }
        ERR_clear_error()
        return isAuthentic ? SharedSecret(plaintext) : nil
    }

    private final class Context {
        private let pointer: OpaquePointer

        init(_ key: UnsafeRawBufferPointer, _ vector: UnsafeRawBufferPointer, isSealing: Bool) throws(OpenSSLError) {
            guard let pointer = EVP_CIPHER_CTX_new() else { throw .last("preparing a cipher") }
            self.pointer = pointer
            let cipher = key.count == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm()
            guard key.count == 16 || key.count == 32,
                EVP_CipherInit_ex(pointer, cipher, nil, nil, nil, isSealing ? 1 : 0) == 1,
                EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_IVLEN, Int32(vector.count), nil) == 1,
                EVP_CipherInit_ex(pointer, nil, nil, key.octets, vector.octets, isSealing ? 1 : 0) == 1
            else { throw .last("preparing a cipher") }
        }

        deinit { EVP_CIPHER_CTX_free(pointer) }

        func authenticate(_ data: [UInt8]) throws(OpenSSLError) {
            var length: Int32 = 0
            guard data.isEmpty || EVP_CipherUpdate(pointer, nil, &length, data, Int32(data.count)) == 1 else {
                throw .last("the cipher")
            }
        }

        func update(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
            guard !input.isEmpty else { return }
            var length: Int32 = 0
            guard input.count <= Int(Int32.max),
                EVP_CipherUpdate(
                    pointer, output.assumingMemoryBound(to: UInt8.self).baseAddress, &length, input.octets,
                    Int32(input.count)) == 1,
                Int(length) == input.count
            else { throw .last("the cipher") }
        }

        func finish() -> Bool {
            var length: Int32 = 0
            var rest: UInt8 = 0
            return EVP_CipherFinal_ex(pointer, &rest, &length) == 1
        }

        func readTag(into buffer: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
            guard EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, Int32(buffer.count), buffer.baseAddress) == 1
            else {
                throw .last("the authentication tag")
            }
        }

        func expectTag(_ tag: UnsafeRawBufferPointer) throws(OpenSSLError) {
            let copy = UnsafeMutableRawPointer(mutating: tag.baseAddress)
            guard EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), copy) == 1 else {
                throw .last("the authentication tag")
            }
        }
    }
}
