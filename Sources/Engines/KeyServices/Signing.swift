// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

extension PrivateKey {
    /// Returns a signature: one block for RSA, r and s in the format of the algorithm for an
    /// elliptic curve.
    ///
    /// - Parameter input: the message or the digest, depending on the algorithm.
    /// - Throws: errSecParam if the key does not support the algorithm, or a digest has the wrong
    ///   length.
    public func signature(of input: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8]
    {
        try algorithm.requireSupport(by: kind, .privateKey, for: .sign)
        switch algorithm {
        case .rsaSignature(.raw): return try signature(.signRaw, input)
        case .rsaSignature(.pkcs1(let signed)):
            return try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                try signature(.signPKCS1(signed.hash), digest)
            }
        case .rsaSignature(.pss(let signed)):
            guard let hash = signed.hash else { break }
            return try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                try signature(.signPSS(hash), digest)
            }
        case .ecdsa(let format, let signed):
            let der = try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                try signature(.signECDSA, digest)
            }
            return format == .x962 ? der : try ECDSASignature.rfc4754(der, of: kind)
        case .rsaEncryption, .ecdh, .ecies: break
        }
        throw .parameter("the algorithm \(algorithm.rawValue) is not a signature algorithm")
    }

    private func signature(_ use: PrivateKeyUse, _ input: UnsafeRawBufferPointer) throws(KeychainError) -> [UInt8] {
        try self.use(use, on: input).withUnsafeBytes { Array($0) }
    }
}

extension PublicKey {
    /// Whether the private half made the signature for the message or the digest. A malformed
    /// signature is not an error: the result is false.
    ///
    /// - Throws: errSecParam if the key does not support the algorithm, or a digest has the wrong
    ///   length.
    public func isSignature(
        _ signature: UnsafeRawBufferPointer, of input: UnsafeRawBufferPointer, _ algorithm: KeyAlgorithm
    ) throws(KeychainError) -> Bool {
        try algorithm.requireSupport(by: kind, .publicKey, for: .verify)
        switch algorithm {
        case .rsaSignature(.raw):
            return try RSABlock.padded(input, of: kind).withUnsafeBytes { (block) throws(KeychainError) in
                try isSignature(signature, of: block, nil, .raw)
            }
        case .rsaSignature(.pkcs1(let signed)):
            return try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                try isSignature(signature, of: digest, signed.hash, .pkcs1)
            }
        case .rsaSignature(.pss(let signed)):
            return try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                try isSignature(signature, of: digest, signed.hash, .pss)
            }
        case .ecdsa(let format, let signed):
            return try signed.withDigest(of: input) { (digest) throws(KeychainError) in
                guard format == .rfc4754 else { return try isSignature(signature, of: digest, nil, nil) }
                guard let der = ECDSASignature.x962(signature, of: kind) else { return false }
                return try der.withContiguousBytes { (der) throws(KeychainError) in
                    try isSignature(der, of: digest, nil, nil)
                }
            }
        case .rsaEncryption, .ecdh, .ecies:
            throw .parameter("the algorithm \(algorithm.rawValue) is not a signature algorithm")
        }
    }

    /// Whether the private half made the RSASSA-PSS signature, with a salt of any length and MGF1 of
    /// the same hash.
    package func isPSSSignature(
        _ signature: UnsafeRawBufferPointer, of digest: UnsafeRawBufferPointer, _ hash: HashAlgorithm, saltCount: Int
    ) throws(KeychainError) -> Bool {
        guard kind.type == .rsa, digest.count == hash.byteCount else {
            throw .parameter("RSASSA-PSS needs an RSA key and a digest of \(hash.rawValue)")
        }
        return try isSignature(signature, of: digest, hash, .pssWithSalt(saltCount))
    }

    private func isSignature(
        _ signature: UnsafeRawBufferPointer, of digest: UnsafeRawBufferPointer, _ hash: HashAlgorithm?,
        _ padding: RSAPadding?
    ) throws(KeychainError) -> Bool {
        guard kind.type == .ellipticCurve || signature.count == kind.blockLength else { return false }
        return try crypto { () throws(OpenSSLError) in
            try key.isSignature(signature, of: digest, hash: hash?.function, padding: padding)
        }
    }
}

extension KeyAlgorithm.SignedInput {
    /// Calls `body` with the digest: the input, or the digest of the message.
    fileprivate func withDigest<Result>(
        of input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        switch self {
        case .digest(nil): return try body(input)
        case .digest(let hash?):
            guard input.count == hash.byteCount else {
                throw .parameter(
                    "a digest of \(hash.rawValue) must have \(hash.byteCount) bytes, found \(input.count)")
            }
            return try body(input)
        case .message(let hash):
            let digest = try crypto { () throws(OpenSSLError) in try hash.function.digest(of: input) }
            return try digest.withContiguousBytes(body)
        }
    }
}
