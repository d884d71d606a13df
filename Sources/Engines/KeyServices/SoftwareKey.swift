// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A private key in memory.
public final class SoftwareKey: PrivateKey {
    public let publicKey: PublicKey
    public var kind: KeyKind { publicKey.kind }
    let key: AsymmetricKey

    /// Generates a key. RSA keys have the public exponent 65537.
    ///
    /// - Parameter isCancelled: called during the search for an RSA key; true ends the search.
    /// - Throws: errSecKeySizeNotAllowed for a size that cannot be generated; errSecNotAvailable if
    ///   the search was cancelled.
    public static func generate(_ kind: KeyKind, isCancelled: () -> Bool = { false }) throws(KeychainError)
        -> SoftwareKey
    {
        guard kind.canBeGenerated else {
            throw KeychainError(
                .keySizeNotAllowed, "keys of the kind \(kind) cannot be generated",
                hint: "RSA keys have 512 to 8192 bits in steps of 8, elliptic curve keys 224, 256, 384 or 521")
        }
        if let curve = EllipticCurve(rawValue: kind.bits), kind.type == .ellipticCurve {
            return try SoftwareKey(generatedOn: curve)
        }
        let key: AsymmetricKey
        do throws(OpenSSLError) {
            key = try AsymmetricKey.generateRSA(bits: kind.bits, isCancelled: isCancelled)
        } catch {
            guard isCancelled() else { throw KeychainError(.param, "the key cannot be generated: \(error.message)") }
            throw KeychainError(
                .notAvailable, "the key was not generated: the operation was cancelled", hint: "try again")
        }
        return SoftwareKey(key, try PublicKey(rsa: key))
    }

    /// Generates a key on a curve.
    convenience init(generatedOn curve: EllipticCurve) throws(KeychainError) {
        let (key, point) = try crypto { () throws(OpenSSLError) in
            let key = try AsymmetricKey.generate(curve)
            return (key, try key.publicPoint(of: curve))
        }
        self.init(key, PublicKey(KeyKind(.ellipticCurve, bits: curve.rawValue), external: point, key: key))
    }

    private init(_ key: AsymmetricKey, _ publicKey: PublicKey) {
        self.key = key
        self.publicKey = publicKey
    }

    /// Creates a key from its external representation (keychain-behaviour §6.5): PKCS #1
    /// `RSAPrivateKey` in DER, or `04 ‖ X ‖ Y ‖ K` (X9.63).
    ///
    /// - Parameter isTrusted: whether the bytes were checked before, as stored keys were; then only
    ///   the format is checked.
    /// - Throws: errSecParam for anything else, including a public key.
    public convenience init(external: UnsafeRawBufferPointer, type: KeyType, isTrusted: Bool = false)
        throws(KeychainError)
    {
        switch type {
        case .rsa: try self.init(pkcs1: external, isTrusted: isTrusted)
        case .ellipticCurve: try self.init(x963: external, isTrusted: isTrusted)
        }
    }

    private convenience init(pkcs1 bytes: UnsafeRawBufferPointer, isTrusted: Bool) throws(KeychainError) {
        guard let numbers = DERNumbers.all(9, in: bytes), numbers[0].isEmpty else {
            throw .parameter("the bytes are not an RSAPrivateKey of PKCS #1")
        }
        let (modulus, exponent) = (numbers[1], numbers[2])
        let kind = try PublicKey.kind(modulus: modulus, exponent: exponent)
        // Refuse longer numbers than the modulus allows before any computation.
        guard numbers[3...].allSatisfy({ $0.count <= modulus.count }) else {
            throw .parameter("the numbers of the RSA key are inconsistent")
        }
        let parts = RSAKeyParts(modulus: modulus, publicExponent: exponent, secrets: Array(numbers[3...]))
        if !isTrusted {
            let isConsistent = try crypto { () throws(OpenSSLError) in try parts.isConsistent() }
            guard isConsistent else { throw .parameter("the numbers of the RSA key are inconsistent") }
        }
        let key = try crypto { () throws(OpenSSLError) in try AsymmetricKey(parts) }
        let external = DERNumbers.encoded([modulus, exponent]).withUnsafeBytes { Array($0) }
        self.init(key, PublicKey(kind, external: external, key: key))
    }

    private convenience init(x963 bytes: UnsafeRawBufferPointer, isTrusted: Bool) throws(KeychainError) {
        guard let curve = EllipticCurve.allCases.first(where: { bytes.count == 1 + 3 * $0.byteCount }), bytes[0] == 4
        else {
            throw .parameter("the bytes are not a private key of a supported curve (04, X, Y, K)")
        }
        let point = UnsafeRawBufferPointer(rebasing: bytes.prefix(1 + 2 * curve.byteCount))
        let scalar = UnsafeRawBufferPointer(rebasing: bytes.suffix(curve.byteCount))
        try self.init(curve, scalar: scalar, point: point, isTrusted: isTrusted)
    }

    /// Creates a key of a curve from its scalar.
    ///
    /// - Parameter point: the public point; if given, it must match the scalar.
    convenience init(
        _ curve: EllipticCurve, scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer?, isTrusted: Bool = false
    ) throws(KeychainError) {
        var own = point.map { Array($0) }
        if !isTrusted || own == nil {
            let found = try crypto { () throws(OpenSSLError) in try curve.publicPoint(of: scalar) }
            guard let found, own == nil || own == found else {
                throw .parameter("the numbers of the private key are inconsistent")
            }
            own = found
        }
        let external = own ?? []
        let key = try external.withContiguousBytes { (point) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in try AsymmetricKey(curve, point: point, scalar: scalar) }
        }
        self.init(key, PublicKey(KeyKind(.ellipticCurve, bits: curve.rawValue), external: external, key: key))
    }

    /// Creates an RSA key from its numbers: n, e, d, p, q, d mod p−1, d mod q−1, q⁻¹ mod p.
    convenience init(rsa numbers: [SharedSecret]) throws(KeychainError) {
        let zero = UnsafeRawBufferPointer(start: nil, count: 0)
        let der = withUnsafeBuffers(numbers) { SharedSecret(DERNumbers.encoded([zero] + $0)) }
        let made = try der.withUnsafeBytes { (bytes) throws(KeychainError) in
            try SoftwareKey(external: bytes, type: .rsa)
        }
        self.init(made.key, made.publicKey)
    }

    /// Returns the external representation, as in ``init(external:type:isTrusted:)``.
    public func external() throws(KeychainError) -> SharedSecret {
        if let curve = publicKey.curve {
            let scalar = try crypto { () throws(OpenSSLError) in SharedSecret(try key.scalar(of: curve)) }
            return SharedSecret(
                SecretBytes(count: publicKey.external.count + scalar.count) { buffer in
                    buffer.copyBytes(from: publicKey.external)
                    scalar.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: buffer[publicKey.external.count...]).copyMemory(
                            from: $0)
                    }
                })
        }
        let secrets = try crypto { () throws(OpenSSLError) in try key.secretRSANumbers() }
        let (modulus, exponent) = try crypto { () throws(OpenSSLError) in try key.publicRSANumbers() }
        let numbers = [SharedSecret(copying: modulus), SharedSecret(copying: exponent)] + secrets
        let zero = UnsafeRawBufferPointer(start: nil, count: 0)
        return withUnsafeBuffers(numbers) { SharedSecret(DERNumbers.encoded([zero] + $0)) }
    }

    // MARK: Use

    public func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        guard use.type == kind.type else { throw .parameter("a key \(kind) does not support this operation") }
        switch use {
        case .signRaw:
            return try RSABlock.padded(input, of: kind).withUnsafeBytes { (block) throws(KeychainError) in
                try signed(block, nil, .raw)
            }
        case .signPKCS1(let hash): return try signed(input, hash, .pkcs1)
        case .signPSS(let hash): return try signed(input, hash, .pss)
        case .signECDSA: return try signed(input, nil, nil)
        case .decryptRaw: return try decrypted(input, .raw)
        case .decryptPKCS1: return try unpadded(input)
        case .decryptOAEP(let hash): return try decrypted(input, .oaep(hash.function))
        case .agree, .agreeToDecrypt: return try keyAgreement(with: input)
        case .attest: throw KeychainError(.unimplemented, "only a key in a TPM can prove where it is")
        }
    }

    private func signed(
        _ digest: UnsafeRawBufferPointer, _ hash: HashAlgorithm?, _ padding: RSAPadding?
    ) throws(KeychainError) -> SharedSecret {
        SharedSecret(
            copying: try crypto { () throws(OpenSSLError) in
                try key.signature(of: digest, hash: hash?.function, padding: padding)
            })
    }

    private func decrypted(_ block: UnsafeRawBufferPointer, _ padding: RSAPadding) throws(KeychainError) -> SharedSecret
    {
        guard block.count == kind.blockLength else { throw Self.decryptionFailed }
        do throws(OpenSSLError) {
            return SharedSecret(try key.decrypted(block, padding: padding))
        } catch {
            // Every defect of the block gives the same error, so that the error tells nothing about
            // it.
            throw Self.decryptionFailed
        }
    }

    /// Decrypts PKCS #1 v1.5. A block with wrong padding cannot be told from a valid one.
    private func unpadded(_ ciphertext: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        let block = try decrypted(ciphertext, .raw)
        let size = kind.blockLength
        return try crypto { () throws(OpenSSLError) in
            let exponent = try SecretBytes(count: size) { (buffer) throws(OpenSSLError) in
                try key.readPrivateExponent(into: buffer)
            }
            return try block.withUnsafeBytes { (block) throws(OpenSSLError) in
                try exponent.withUnsafeBytes { (exponent) throws(OpenSSLError) in
                    try PKCS1Block.message(in: block, of: ciphertext, exponent: exponent)
                }
            }
        }
    }

    private func keyAgreement(with point: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        guard publicKey.curve != nil, point.count == publicKey.external.count, point[0] == 4 else {
            throw .parameter("the other key is not a public key of the same curve")
        }
        return try crypto { () throws(OpenSSLError) in
            SharedSecret(try key.keyAgreement(with: AsymmetricKey(point: point, ofSameCurveAs: key)))
        }
    }

    public func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret {
        guard kind.type == .ellipticCurve, other.kind == kind else {
            throw .parameter("the other key is not a public key of the same curve")
        }
        return try crypto { () throws(OpenSSLError) in SharedSecret(try key.keyAgreement(with: other.key)) }
    }

    static let decryptionFailed = KeychainError(.param, "the data cannot be decrypted with this key")
}

/// Calls `body` with the bytes of several secrets.
private func withUnsafeBuffers(
    _ secrets: [SharedSecret], _ buffers: [UnsafeRawBufferPointer] = [],
    _ body: ([UnsafeRawBufferPointer]) -> SharedSecret
) -> SharedSecret {
    guard let first = secrets.first else { return body(buffers) }
    return first.withUnsafeBytes { withUnsafeBuffers(Array(secrets.dropFirst()), buffers + [$0], body) }
}
