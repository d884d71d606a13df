// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
package import OpenSSLCrypto
internal import SecretMemory

/// The public half of a key pair, in the memory of the process that uses it.
public final class PublicKey: Sendable {
    public let kind: KeyKind
    /// PKCS #1 `RSAPublicKey` in DER, or the point `04 ‖ X ‖ Y` (X9.63).
    public let external: [UInt8]
    let key: AsymmetricKey

    /// Creates a key from its external representation.
    ///
    /// - Parameter external: as in ``external``, without extra bytes.
    /// - Throws: errSecParam for anything else: another format, a point that is not on the curve,
    ///   an even modulus, an unsupported size.
    public convenience init(external: UnsafeRawBufferPointer, type: KeyType) throws(KeychainError) {
        switch type {
        case .rsa: try self.init(pkcs1: external)
        case .ellipticCurve: try self.init(point: external)
        }
    }

    init(_ kind: KeyKind, external: [UInt8], key: AsymmetricKey) {
        self.kind = kind
        self.external = external
        self.key = key
    }

    /// Encrypts one block with an RSA key.
    ///
    /// - Throws: errSecParam for a plaintext that is too long.
    package func encryptedBlock(
        _ plaintext: UnsafeRawBufferPointer, padding: RSAPadding
    ) throws(KeychainError) -> [UInt8] {
        guard kind.type == .rsa else { throw .parameter("the key is not an RSA key") }
        return try crypto { () throws(OpenSSLError) in try key.encrypted(plaintext, padding: padding) }
    }

    /// Returns the SHA-1 digest of ``external``: the application label of both halves, and the
    /// identifier of the key in certificates.
    public func applicationLabel() throws(KeychainError) -> [UInt8] {
        try external.withContiguousBytes { (bytes) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in try HashFunction.sha1.digest(of: bytes) }
        }
    }
}

// MARK: RSA

extension PublicKey {
    private convenience init(pkcs1 bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        guard let numbers = DERNumbers.all(2, in: bytes) else {
            throw .parameter("the bytes are not an RSAPublicKey of PKCS #1")
        }
        let (modulus, exponent) = (numbers[0], numbers[1])
        let kind = try Self.kind(modulus: modulus, exponent: exponent)
        let key = try crypto { () throws(OpenSSLError) in
            try AsymmetricKey(RSAKeyParts(modulus: modulus, publicExponent: exponent))
        }
        self.init(kind, external: Array(bytes), key: key)
    }

    /// Returns the kind of a key with these public numbers.
    ///
    /// - Throws: errSecParam for numbers that are not supported.
    static func kind(modulus: UnsafeRawBufferPointer, exponent: UnsafeRawBufferPointer) throws(KeychainError) -> KeyKind
    {
        let kind = KeyKind(.rsa, bits: RSAPublicNumbers.bits(of: modulus))
        guard kind.isUsable else {
            throw .parameter(RSAPublicNumbers.wrongSize(kind.bits, accepted: KeyKind.rsaSizes))
        }
        if let defect = RSAPublicNumbers.defect(modulus: modulus, exponent: exponent) { throw .parameter(defect) }
        return kind
    }

    /// Creates the public half of an RSA key of libcrypto.
    convenience init(rsa key: AsymmetricKey) throws(KeychainError) {
        let (modulus, exponent) = try crypto { () throws(OpenSSLError) in try key.publicRSANumbers() }
        let external = modulus.withUnsafeBytes { modulus in
            exponent.withUnsafeBytes { exponent in
                DERNumbers.encoded([modulus, exponent]).withUnsafeBytes { Array($0) }
            }
        }
        let kind = try modulus.withContiguousBytes { (modulus) throws(KeychainError) in
            try exponent.withContiguousBytes { (exponent) throws(KeychainError) in
                try Self.kind(modulus: modulus, exponent: exponent)
            }
        }
        self.init(kind, external: external, key: key)
    }
}

// MARK: Elliptic curves

extension PublicKey {
    private convenience init(point bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        guard let curve = EllipticCurve.allCases.first(where: { bytes.count == 1 + 2 * $0.byteCount }), bytes[0] == 4
        else {
            throw .parameter("the bytes are not an uncompressed point of a supported curve")
        }
        try self.init(curve, point: bytes)
    }

    convenience init(_ curve: EllipticCurve, point: UnsafeRawBufferPointer) throws(KeychainError) {
        let key: AsymmetricKey
        do throws(OpenSSLError) {
            key = try AsymmetricKey(curve, point: point)
        } catch {
            throw .parameter("the point is not on the curve")
        }
        self.init(KeyKind(.ellipticCurve, bits: curve.rawValue), external: Array(point), key: key)
    }

    var curve: EllipticCurve? { kind.type == .ellipticCurve ? EllipticCurve(rawValue: kind.bits) : nil }
}

// MARK: From the service

extension PublicKey {
    /// Returns the key that the service describes.
    public static func of(_ info: PublicKeyInfo) throws(KeychainError) -> PublicKey {
        try info.publicKey.withContiguousBytes { (bytes) throws(KeychainError) in
            try PublicKey(external: bytes, type: info.kind.type)
        }
    }
}
