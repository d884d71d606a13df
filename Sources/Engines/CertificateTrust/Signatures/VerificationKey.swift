// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import OpenSSLCrypto
internal import SwiftASN1

/// A certificate's public key, prepared to verify signatures.
///
/// RSA keys of 2048 to 8192 bits and keys on P-256, P-384 and P-521 are supported. Any other key is
/// refused with an error that names it.
struct VerificationKey: Sendable {
    let family: SignatureScheme.Family
    let check: @Sendable (_ signature: ArraySlice<UInt8>, _ message: ArraySlice<UInt8>, SignatureScheme.Hash) -> Bool

    init(_ info: SubjectPublicKeyInfo) throws(CertificateError) {
        switch info.kind {
        case .rsa: self = try Self.rsa(info)
        case .ellipticCurve(.p256): self = try Self.curve(P256.Signing.PublicKey.self, info.key)
        case .ellipticCurve(.p384): self = try Self.curve(P384.Signing.PublicKey.self, info.key)
        case .ellipticCurve(.p521): self = try Self.curve(P521.Signing.PublicKey.self, info.key)
        case .ellipticCurve, .ed25519, .other: throw CertificateError("\(info) keys are not accepted")
        }
    }

    init(
        _ family: SignatureScheme.Family,
        _ check: @escaping @Sendable (ArraySlice<UInt8>, ArraySlice<UInt8>, SignatureScheme.Hash) -> Bool
    ) {
        self.family = family
        self.check = check
    }

    /// Whether the signature of the message is valid for this key.
    ///
    /// - Throws: if the algorithm is not accepted, or does not fit the kind of key.
    func isSignature(
        _ signature: ArraySlice<UInt8>, of message: ArraySlice<UInt8>, _ algorithm: AlgorithmIdentifier
    ) throws(CertificateError) -> Bool {
        guard let scheme = SignatureScheme(algorithm) else {
            throw CertificateError("\(SignatureScheme.name(of: algorithm.algorithm)) signatures are not accepted")
        }
        guard scheme.family == family else {
            throw CertificateError("the signature algorithm does not match the issuer's key")
        }
        return check(signature, message, scheme.hash)
    }
}

// MARK: RSA

extension VerificationKey {
    /// The accepted sizes in bits; smaller keys are weak, larger ones slow.
    private static let modulusSizes = 2048...8192

    private static func rsa(_ info: SubjectPublicKeyInfo) throws(CertificateError) -> VerificationKey {
        guard info.algorithm.hasNoParameters else {
            throw CertificateError("the parameters of an RSA key must be NULL or absent")
        }
        let (modulus, exponent) = try info.rsaNumbers()
        let bits = RSAPublicNumbers.bits(of: modulus)
        guard modulusSizes ~= bits else {
            throw CertificateError(RSAPublicNumbers.wrongSize(bits, accepted: modulusSizes))
        }
        guard bits.isMultiple(of: 8) else {
            throw CertificateError("the size of the RSA modulus must be a multiple of 8 bits, found \(bits)")
        }
        guard let key = try? AsymmetricKey(modulus: modulus, exponent: exponent) else {
            throw CertificateError("the RSA key cannot be used")
        }
        let verifier = SignatureVerifier(key, padding: .pkcs1)
        return VerificationKey(.rsa) { signature, message, hash in
            guard signature.count == modulus.count else { return false }
            return signature.withUnsafeBytes { signature in
                message.withUnsafeBytes { message in
                    guard let digest = try? hash.digest(of: message) else { return false }
                    return digest.withUnsafeBytes { digest in
                        (try? verifier.isSignature(signature, of: digest, hash: hash)) ?? false
                    }
                }
            }
        }
    }
}

extension AsymmetricKey {
    fileprivate convenience init(modulus: [UInt8], exponent: [UInt8]) throws(OpenSSLError) {
        let pointers = [modulus, exponent].map { UnsafeMutableRawBufferPointer.allocate(copying: $0) }
        defer { for pointer in pointers { pointer.deallocate() } }
        try self.init(
            RSAKeyParts(
                modulus: UnsafeRawBufferPointer(pointers[0]), publicExponent: UnsafeRawBufferPointer(pointers[1])))
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate static func allocate(copying bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let buffer = allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyBytes(from: bytes)
        return buffer
    }
}

// MARK: Elliptic curves

extension VerificationKey {
    /// Makes a key from an uncompressed point, as the Baseline Requirements, section 7.1.3.1.2,
    /// require.
    private static func curve<Key: CurveKey>(_ type: Key.Type, _ point: ArraySlice<UInt8>) throws(CertificateError)
        -> VerificationKey
    {
        guard let key = try? Key(x963Representation: point) else {
            throw CertificateError("the public key must be an uncompressed point on its curve")
        }
        return VerificationKey(.ecdsa) { signature, message, hash in
            switch hash {
            case .sha384: key.isSignature(signature, of: SHA384.hash(data: message))
            case .sha512: key.isSignature(signature, of: SHA512.hash(data: message))
            default: key.isSignature(signature, of: SHA256.hash(data: message))
            }
        }
    }
}

/// The common interface of CryptoKit's public keys on its three curves.
private protocol CurveKey: Sendable {
    init(x963Representation point: some ContiguousBytes) throws
    func isSignature(_ der: ArraySlice<UInt8>, of digest: some Digest) -> Bool
}

extension P256.Signing.PublicKey: CurveKey {
    fileprivate func isSignature(_ der: ArraySlice<UInt8>, of digest: some Digest) -> Bool {
        (try? P256.Signing.ECDSASignature(derRepresentation: der)).map { isValidSignature($0, for: digest) } ?? false
    }
}

extension P384.Signing.PublicKey: CurveKey {
    fileprivate func isSignature(_ der: ArraySlice<UInt8>, of digest: some Digest) -> Bool {
        (try? P384.Signing.ECDSASignature(derRepresentation: der)).map { isValidSignature($0, for: digest) } ?? false
    }
}

extension P521.Signing.PublicKey: CurveKey {
    fileprivate func isSignature(_ der: ArraySlice<UInt8>, of digest: some Digest) -> Bool {
        (try? P521.Signing.ECDSASignature(derRepresentation: der)).map { isValidSignature($0, for: digest) } ?? false
    }
}
