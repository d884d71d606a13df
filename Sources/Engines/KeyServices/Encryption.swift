// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

extension PublicKey {
    /// Encrypts the plaintext for the private half.
    ///
    /// - Throws: errSecParam if the key does not support the algorithm, or the plaintext is too
    ///   long for a block.
    public func encrypted(_ plaintext: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm) throws(KeychainError)
        -> [UInt8]
    {
        try algorithm.requireSupport(by: kind, .publicKey, for: .encrypt)
        switch algorithm {
        case .rsaEncryption(.raw):
            return try RSABlock.padded(plaintext, of: kind).withUnsafeBytes { (block) throws(KeychainError) in
                try self.block(block, .raw)
            }
        case .rsaEncryption(.pkcs1): return try block(plaintext, .pkcs1, capacity: kind.blockLength - 11)
        case .rsaEncryption(.oaep(let hash)):
            return try block(plaintext, .oaep(hash.function), capacity: RSABlock.oaepCapacity(hash, in: kind))
        case .rsaEncryption(.oaepAESGCM(let hash)): return try RSAHybrid(hash, kind).sealed(plaintext, for: self)
        case .ecies(_, let hash, let derivesIV):
            return try ECIES(hash, kind, derivesIV: derivesIV).sealed(plaintext, for: self)
        case .rsaSignature, .ecdsa, .ecdh:
            throw .parameter("the algorithm \(algorithm.rawValue) is not an encryption algorithm")
        }
    }

    private func block(
        _ plaintext: UnsafeRawBufferPointer, _ padding: RSAPadding, capacity: Int? = nil
    ) throws(KeychainError) -> [UInt8] {
        if let capacity, plaintext.count > capacity {
            throw .parameter("the plaintext must have at most \(capacity) bytes, found \(plaintext.count)")
        }
        return try crypto { () throws(OpenSSLError) in try key.encrypted(plaintext, padding: padding) }
    }
}

extension PrivateKey {
    /// Decrypts a ciphertext for this key.
    ///
    /// - Throws: errSecParam for every defect of the ciphertext.
    public func decrypted(_ ciphertext: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm) throws(KeychainError)
        -> SharedSecret
    {
        try algorithm.requireSupport(by: kind, .privateKey, for: .decrypt)
        switch algorithm {
        case .rsaEncryption(.raw): return try use(.decryptRaw, on: ciphertext)
        case .rsaEncryption(.pkcs1): return try use(.decryptPKCS1, on: ciphertext)
        case .rsaEncryption(.oaep(let hash)): return try use(.decryptOAEP(hash), on: ciphertext)
        case .rsaEncryption(.oaepAESGCM(let hash)): return try RSAHybrid(hash, kind).opened(ciphertext, by: self)
        case .ecies(_, let hash, let derivesIV):
            return try ECIES(hash, kind, derivesIV: derivesIV).opened(ciphertext, by: self)
        case .rsaSignature, .ecdsa, .ecdh:
            throw .parameter("the algorithm \(algorithm.rawValue) is not an encryption algorithm")
        }
    }
}
