// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// `ECIESEncryption…X963<hash>AESGCM` (keychain-behaviour §6.2): an ephemeral key agrees on a
/// secret with the recipient's key. X9.63 derives a key from the secret and the ephemeral public
/// key, and a vector if the algorithm derives one. AES-GCM seals under them. The ciphertext begins
/// with the ephemeral public key.
struct ECIES {
    private let hash: HashAlgorithm
    private let kind: KeyKind
    private let derivesIV: Bool

    init(_ hash: HashAlgorithm, _ kind: KeyKind, derivesIV: Bool) {
        self.hash = hash
        self.kind = kind
        self.derivesIV = derivesIV
    }

    private var keyLength: Int { kind.bits <= 256 ? 16 : 32 }

    func sealed(_ plaintext: UnsafeRawBufferPointer, for key: PublicKey) throws(KeychainError) -> [UInt8] {
        try sealed(plaintext, for: key, by: try Self.ephemeral(kind))
    }

    /// - Parameter ephemeral: a key pair that is used only once.
    func sealed(_ plaintext: UnsafeRawBufferPointer, for key: PublicKey, by ephemeral: SoftwareKey)
        throws(KeychainError) -> [UInt8]
    {
        let point = ephemeral.publicKey.external
        let sharedSecret = try ephemeral.keyAgreement(with: key)
        return try withKey(sharedSecret, point) { (key, vector) throws(KeychainError) in
            point + (try SessionCipher.seal(plaintext, key: key, vector: vector, authenticating: []))
        }
    }

    func opened(_ ciphertext: UnsafeRawBufferPointer, by key: some PrivateKey) throws(KeychainError) -> SharedSecret {
        let length = 1 + 2 * kind.blockLength
        guard ciphertext.count >= length + AESGCM.tagLength else { throw SoftwareKey.decryptionFailed }
        let point = UnsafeRawBufferPointer(rebasing: ciphertext.prefix(length))
        let sharedSecret: SharedSecret
        do throws(KeychainError) {
            sharedSecret = try key.use(.agreeToDecrypt, on: point)
        } catch {
            // An invalid point gives the same error as a wrong tag. Errors that prevent the use of
            // the key are passed on.
            throw error.status == .param ? SoftwareKey.decryptionFailed : error
        }
        return try withKey(sharedSecret, Array(point)) { (key, vector) throws(KeychainError) in
            try SessionCipher.open(
                UnsafeRawBufferPointer(rebasing: ciphertext.dropFirst(length)), key: key, vector: vector,
                authenticating: [])
        }
    }

    private func withKey<Result>(
        _ sharedSecret: SharedSecret, _ info: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ vector: UnsafeRawBufferPointer?) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let derived = try X963.derived(from: sharedSecret, info: info, hash, count: keyLength + (derivesIV ? 16 : 0))
        return try derived.withUnsafeBytes { (bytes) throws(KeychainError) in
            try body(
                UnsafeRawBufferPointer(rebasing: bytes.prefix(keyLength)),
                derivesIV ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(keyLength)) : nil)
        }
    }

    /// Generates a key pair, also on a curve that otherwise supports only imported keys.
    private static func ephemeral(_ kind: KeyKind) throws(KeychainError) -> SoftwareKey {
        guard let curve = EllipticCurve(rawValue: kind.bits) else { throw .parameter("unknown curve") }
        return try SoftwareKey(generatedOn: curve)
    }
}

/// The key derivation of ANSI X9.63.
enum X963 {
    static func derived(from secret: SharedSecret, info: [UInt8], _ hash: HashAlgorithm, count: Int)
        throws(KeychainError) -> SharedSecret
    {
        let derived = try secret.withUnsafeBytes { (secret) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in
                SharedSecret(
                    try SecretBytes(count: count) { (output) throws(OpenSSLError) in
                        try KeyDerivation.x963(secret, info: info, hash: hash.function, into: output)
                    })
            }
        }
        return derived
    }
}
