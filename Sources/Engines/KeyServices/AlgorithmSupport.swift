// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension KeyAlgorithm {
    /// Whether a key of this kind and half supports the algorithm for the operation
    /// (keychain-behaviour §6.3). Apple also reports support for two pairs that then fail, and so
    /// does this: verifying with a private RSA key, and decrypting with a public one.
    public func isSupported(by kind: KeyKind, _ half: KeyHalf, for operation: KeyOperation) -> Bool {
        guard isCompatible(kind) else { return false }
        switch (self, half, operation) {
        case (.rsaSignature, .privateKey, .sign), (.rsaSignature, _, .verify): return true
        case (.rsaEncryption, .publicKey, .encrypt), (.rsaEncryption, .privateKey, .decrypt): return true
        case (.rsaEncryption(.oaepAESGCM), .publicKey, .decrypt): return false
        case (.rsaEncryption, .publicKey, .decrypt): return true
        case (.ecdsa, .privateKey, .sign), (.ecdsa, .publicKey, .verify): return true
        case (.ecies, .publicKey, .encrypt), (.ecies, .privateKey, .decrypt): return true
        case (.ecdh, .privateKey, .exchange): return true
        default: return false
        }
    }

    /// Whether the key has the right type and is large enough.
    private func isCompatible(_ kind: KeyKind) -> Bool {
        switch self {
        case .rsaSignature(.pss(let input)):
            guard kind.type == .rsa, let hash = input.hash else { return false }
            return kind.bits >= 16 * hash.byteCount + 9
        case .rsaSignature(.pkcs1(let input)):
            // The padding takes 11 bytes, the DER around the digest up to 19 (RFC 8017, section
            // 9.2).
            return kind.type == .rsa && kind.blockLength >= 11 + (input.hash.map { $0.digestInfoLength } ?? 0)
        case .rsaSignature: return kind.type == .rsa
        case .rsaEncryption(.oaep(let hash)): return kind.type == .rsa && RSABlock.oaepCapacity(hash, in: kind) >= 0
        case .rsaEncryption(.oaepAESGCM(let hash)):
            return kind.type == .rsa && RSABlock.oaepCapacity(hash, in: kind) >= RSAHybrid.sessionKeyLength(kind)
        case .rsaEncryption: return kind.type == .rsa
        case .ecdsa, .ecdh, .ecies: return kind.type == .ellipticCurve
        }
    }

    func requireSupport(by kind: KeyKind, _ half: KeyHalf, for operation: KeyOperation) throws(KeychainError) {
        guard isSupported(by: kind, half, for: operation) else {
            throw .parameter(
                "the algorithm \(rawValue) is not supported for this operation with a \(half == .publicKey ? "public" : "private") key \(kind)"
            )
        }
    }
}

extension HashAlgorithm {
    /// The length of the DER `DigestInfo`, including the digest, in bytes.
    fileprivate var digestInfoLength: Int { (self == .sha1 ? 15 : 19) + byteCount }
}

extension KeyAlgorithm.SignedInput {
    /// The hash of the digest or of the message; nil if arbitrary bytes are signed.
    public var hash: HashAlgorithm? {
        switch self {
        case .digest(let hash): hash
        case .message(let hash): hash
        }
    }
}
