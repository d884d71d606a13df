// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A private key in memory.
public final class SoftwareKey: PrivateKey {
    public let publicKey: PublicKey
    public var kind: KeyKind { publicKey.kind }
    let key: AsymmetricKey

    /// A new key; RSA keys have the public exponent 65537.
    ///
    /// - Parameter isCancelled: asked while an RSA key is searched for; true ends the search.
    /// - Throws: errSecKeySizeNotAllowed for a size that is not made; errSecNotAvailable where the search was cancelled.
    public static func generate(_ kind: KeyKind, isCancelled: () -> Bool = { false }) throws(KeychainError)
        -> SoftwareKey
    {
        guard kind.canBeGenerated else {
            throw KeychainError(
                .keySizeNotAllowed, "no key \(kind) is made",
                hint: "RSA keys have 512 to 8192 bits in steps of 8, keys of elliptic curves 224, 256, 384 or 521")
        }
        if let curve = EllipticCurve(rawValue: kind.bits), kind.type == .ellipticCurve {
            return try SoftwareKey(generatedOn: curve)
        }
        let key: AsymmetricKey
        do throws(OpenSSLError) {
            key = try AsymmetricKey.generateRSA(bits: kind.bits, isCancelled: isCancelled)
        } catch {
            guard isCancelled() else { throw KeychainError(.param, "the key cannot be made: \(error.message)") }
            throw KeychainError(.notAvailable, "the key was not made: the operation was cancelled", hint: "try again")
        }
        return SoftwareKey(key, try PublicKey(rsa: key))
    }

    /// A new key of a curve.
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

    /// A key from its external representation (keychain-behaviour §6.5): PKCS #1 `RSAPrivateKey` in DER, or `04 ‖ X ‖ Y ‖ K` (X9.63).
    ///
    /// - Parameter isTrusted: whether the bytes were checked before, as those are that were stored; then only their form is looked at.
    /// - Throws: errSecParam for anything else, a public key among it.
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
            throw .parameter("the bytes are no RSAPrivateKey of PKCS #1")
        }
        let (modulus, exponent) = (numbers[1], numbers[2])
        let kind = try PublicKey.kind(modulus: modulus, exponent: exponent)
        // Nothing is computed with numbers that are longer than those of such a key.
        guard numbers[3...].allSatisfy({ $0.count <= modulus.count }) else {
            throw .parameter("the numbers of the RSA key do not belong together")
        }
        let parts = RSAKeyParts(modulus: modulus, publicExponent: exponent, secrets: Array(numbers[3...]))
        if !isTrusted {
            let isConsistent = try crypto { () throws(OpenSSLError) in try parts.isConsistent() }
            guard isConsistent else { throw .parameter("the numbers of the RSA key do not belong together") }
        }
        let key = try crypto { () throws(OpenSSLError) in try AsymmetricKey(parts) }
        let external = DERNumbers.encoded([modulus, exponent]).withUnsafeBytes { Array($0) }
        self.init(key, PublicKey(kind, external: external, key: key))
    }

    private convenience init(x963 bytes: UnsafeRawBufferPointer, isTrusted: Bool) throws(KeychainError) {
        guard let curve = EllipticCurve.allCases.first(where: { bytes.count == 1 + 3 * $0.byteCount }), bytes[0] == 4
        else {
            throw .parameter("the bytes are no private key of a curve that is served (04, X, Y, K)")
        }
        let point = UnsafeRawBufferPointer(rebasing: bytes.prefix(1 + 2 * curve.byteCount))
        let scalar = UnsafeRawBufferPointer(rebasing: bytes.suffix(curve.byteCount))
        try self.init(curve, scalar: scalar, point: point, isTrusted: isTrusted)
    }

    /// A key of a curve from its scalar.
    ///
    /// - Parameter point: has to be the scalar's, where it is given.
    convenience init(
        _ curve: EllipticCurve, scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer?, isTrusted: Bool = false
    ) throws(KeychainError) {
        var own = point.map { Array($0) }
        if !isTrusted || own == nil {
            let found = try crypto { () throws(OpenSSLError) in try curve.publicPoint(of: scalar) }
            guard let found, own == nil || own == found else {
                throw .parameter("the numbers of the private key do not belong together")
            }
            own = found
        }
        let external = own ?? []
        let key = try external.withContiguousBytes { (point) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in try AsymmetricKey(curve, point: point, scalar: scalar) }
        }
        self.init(key, PublicKey(KeyKind(.ellipticCurve, bits: curve.rawValue), external: external, key: key))
    }

    /// A key from its numbers: n, e, d, p, q, d mod p−1, d mod q−1, q⁻¹ mod p.
    convenience init(rsa numbers: [SharedSecret]) throws(KeychainError) {
        let zero = UnsafeRawBufferPointer(start: nil, count: 0)
        let der = withUnsafeBuffers(numbers) { SharedSecret(DERNumbers.encoded([zero] + $0)) }
        let made = try der.withUnsafeBytes { (bytes) throws(KeychainError) in
            try SoftwareKey(external: bytes, type: .rsa)
        }
        self.init(made.key, made.publicKey)
    }

    /// The external representation, as in ``init(external:type:isTrusted:)``.
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
        guard use.type == kind.type else { throw .parameter("a key \(kind) cannot be used like this") }
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
            // Whatever was wrong inside of the block, nobody is told.
            throw Self.decryptionFailed
        }
    }

    /// PKCS #1 v1.5, where a block that is none cannot be told from one that is.
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
            throw .parameter("the other key is no public key of the same curve")
        }
        return try crypto { () throws(OpenSSLError) in
            SharedSecret(try key.keyAgreement(with: AsymmetricKey(point: point, ofSameCurveAs: key)))
        }
    }

    public func keyAgreement(with other: PublicKey) throws(KeychainError) -> SharedSecret {
        guard kind.type == .ellipticCurve, other.kind == kind else {
            throw .parameter("the other key is no public key of the same curve")
        }
        return try crypto { () throws(OpenSSLError) in SharedSecret(try key.keyAgreement(with: other.key)) }
    }

    static let decryptionFailed = KeychainError(.param, "the data cannot be decrypted with this key")
}

/// Lends several secrets at once.
private func withUnsafeBuffers(
    _ secrets: [SharedSecret], _ buffers: [UnsafeRawBufferPointer] = [],
    _ body: ([UnsafeRawBufferPointer]) -> SharedSecret
) -> SharedSecret {
    guard let first = secrets.first else { return body(buffers) }
    return first.withUnsafeBytes { withUnsafeBuffers(Array(secrets.dropFirst()), buffers + [$0], body) }
}
