// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// Encrypts a secret so that only the TPM with an endorsement key opens it, and only if a certain
/// attestation key is in the same TPM (TCG TPM 2.0 Library, part 1, section 24).
struct CredentialMaker {
    /// The RSA key of the endorsement certificate.
    let endorsementKey: PublicKey

    /// - Parameters:
    ///   - secret: at most 32 bytes.
    ///   - name: the name of the attestation key.
    /// - Returns: the code and the encrypted secret; and the seed, encrypted for the endorsement key.
    func credential(
        _ secret: SharedSecret, for name: [UInt8]
    ) throws(AttestationError) -> (credential: [UInt8], seed: [UInt8]) {
        let seed = SharedSecret(.random(count: 32))
        let encryptedSeed: [UInt8]
        do throws(KeychainError) {
            encryptedSeed = try seed.withUnsafeBytes { (bytes) throws(KeychainError) in
                try endorsementKey.encryptedBlock(bytes, padding: .oaep(.sha256, label: Array("IDENTITY\0".utf8)))
            }
        } catch {
            throw .failed("the seed cannot be encrypted: \(error)")
        }
        let identity = try encrypted(secret, key: Self.derive(seed, "STORAGE", name, bits: 128))
        let key = Self.derive(seed, "INTEGRITY", [], bits: 256)
        let code = Self.code(of: identity + name, key: key)
        return (UInt16(clamping: code.count).bigEndianBytes + code + identity, encryptedSeed)
    }

    /// AES-128 in CFB mode with a vector of zeros, of the secret after its length.
    private func encrypted(_ secret: SharedSecret, key: SharedSecret) throws(AttestationError) -> [UInt8] {
        guard let kind = CipherKind(.aes, mode: .cfb, keyByteCount: 16) else { throw .failed("AES is not there") }
        let plaintext = SharedSecret(
            joining: [SharedSecret(copying: UInt16(clamping: secret.count).bigEndianBytes), secret])
        var output = [UInt8](repeating: 0, count: plaintext.count)
        do throws(CipherError) {
            let cipher = try key.withUnsafeBytes { (key) throws(CipherError) in
                try BlockCipher(kind, .encrypt, isPadded: false, key: key, vector: nil)
            }
            _ = try plaintext.withUnsafeBytes { (bytes) throws(CipherError) in
                try output.withUnsafeMutableBufferPointer { (output) throws(CipherError) in
                    try cipher.update(with: bytes, into: UnsafeMutableRawBufferPointer(output))
                }
            }
        } catch {
            throw .failed("AES failed: \(error)")
        }
        return output
    }

    /// KDFa with HMAC-SHA-256 (part 1, section 11.4.10.2), of at most 256 bits.
    private static func derive(_ seed: SharedSecret, _ label: String, _ context: [UInt8], bits: UInt32) -> SharedSecret
    {
        let message = UInt32(1).bigEndianBytes + Array(label.utf8) + [0] + context + bits.bigEndianBytes
        var code = Self.code(of: message, key: seed)
        defer { code.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return SharedSecret(copying: code.prefix(Int(bits / 8)))
    }

    private static func code(of message: [UInt8], key: SharedSecret) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: HMACKey.codeByteCount)
        key.withUnsafeBytes { key in
            let key = HMACKey(key)
            message.withUnsafeBytes { message in
                code.withUnsafeMutableBytes { key.writeCode(of: message, to: $0) }
            }
        }
        return code
    }
}
