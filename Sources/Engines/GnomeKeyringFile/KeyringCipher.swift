// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

/// The encryption of a keyring: AES-128 in CBC mode, with a key and a vector from the password, and MD5 of the
/// plaintext before it. The format is gnome-keyring's; it is only read here.
struct KeyringCipher {
    let salt: UnsafeRawBufferPointer
    /// From 1 on.
    let iterations: UInt32

    static let blockSize = 16
    static let digestSize = 16

    /// Returns the plaintext after its MD5.
    ///
    /// - Parameter ciphertext: whole blocks.
    /// - Throws: ``GnomeKeyringError/wrongPassword``.
    func decrypt(
        _ ciphertext: UnsafeRawBufferPointer, _ password: SharedSecret
    ) throws(GnomeKeyringError) -> SharedSecret {
        let plaintext: SharedSecret
        do throws(CipherError) {
            plaintext = SharedSecret(try decrypted(ciphertext, keyMaterial(password)))
        } catch {
            throw .damaged("its encrypted part cannot be decrypted")
        }
        return try plaintext.withUnsafeBytes { (plaintext) throws(GnomeKeyringError) -> SharedSecret in
            let content = UnsafeRawBufferPointer(rebasing: plaintext.dropFirst(Self.digestSize))
            guard plaintext.starts(with: Self.digest(of: content)) else { throw .wrongPassword }
            return SharedSecret(SecretBytes(copying: content))
        }
    }

    /// SHA-256 of the password and the salt, hashed again for each further iteration: the key, then the vector.
    private func keyMaterial(_ password: SharedSecret) -> SecretBytes {
        SecretBytes(count: DigestFunction.sha256.byteCount) { material in
            guard let start = material.bindMemory(to: UInt8.self).baseAddress else { return }
            var state = HashState()
            state.start(.sha256)
            password.withUnsafeBytes { state.update(.sha256, with: $0) }
            state.update(.sha256, with: salt)
            state.finish(.sha256, into: start)
            for _ in 1..<max(iterations, 1) {
                state.start(.sha256)
                state.update(.sha256, with: UnsafeRawBufferPointer(material))
                state.finish(.sha256, into: start)
            }
        }
    }

    private func decrypted(
        _ ciphertext: UnsafeRawBufferPointer, _ material: borrowing SecretBytes
    ) throws(CipherError) -> SecretBytes {
        try material.withUnsafeBytes { (material) throws(CipherError) -> SecretBytes in
            let cipher = try BlockCipher(
                .aes128CBC, .decrypt, isPadded: false,
                key: UnsafeRawBufferPointer(rebasing: material.prefix(Self.blockSize)),
                vector: UnsafeRawBufferPointer(rebasing: material.dropFirst(Self.blockSize)))
            return try SecretBytes(count: ciphertext.count) { (output) throws(CipherError) in
                _ = try cipher.update(with: ciphertext, into: output)
            }
        }
    }

    private static func digest(of content: UnsafeRawBufferPointer) -> [UInt8] {
        var state = HashState()
        state.start(.md5)
        state.update(.md5, with: content)
        return [UInt8](unsafeUninitializedCapacity: digestSize) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            state.finish(.md5, into: start)
            count = digestSize
        }
    }
}
