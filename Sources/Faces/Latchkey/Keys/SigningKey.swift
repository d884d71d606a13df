// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
package import KeyServices
public import KeychainModel
internal import SecretMemory

/// A curve of FIPS 186-4 as a type: ``P256Curve``, ``P384Curve``, ``P521Curve``.
public protocol KeyCurve: Sendable {
    /// The size of the field in bits.
    static var bits: Int { get }
    /// The default hash for messages.
    static var hash: HashAlgorithm { get }
}

/// The curve P-256 (secp256r1).
public enum P256Curve: KeyCurve {
    /// 256.
    public static let bits = 256
    /// SHA-256.
    public static let hash = HashAlgorithm.sha256
}

/// The curve P-384 (secp384r1).
public enum P384Curve: KeyCurve {
    /// 384.
    public static let bits = 384
    /// SHA-384.
    public static let hash = HashAlgorithm.sha384
}

/// The curve P-521 (secp521r1).
public enum P521Curve: KeyCurve {
    /// 521.
    public static let bits = 521
    /// SHA-512.
    public static let hash = HashAlgorithm.sha512
}

/// The private half of a key pair that signs with ECDSA.
///
/// ```swift
/// let key = try Keychain.default.generate(
///     P256SigningKey.self, tag: "com.example.key", isExtractable: false)
/// let signature = try key.signature(for: message)
/// ```
public struct SigningKey<Curve: KeyCurve>: KeychainKey {
    /// The key behind this value.
    public let handle: KeyHandle

    /// A key of any kind as a key of this type.
    ///
    /// - Throws: `errSecParam` for a key of another kind.
    public init(_ key: KeyHandle) throws(KeychainError) {
        handle = try Self.requireSupported(key)
    }

    /// Generates a key in memory.
    public init() throws(KeychainError) {
        handle = KeyHandle(try SoftwareKey.generate(KeyKind(.ellipticCurve, bits: Curve.bits)))
    }

    /// Returns whether the kind is a key on this curve.
    public static func supports(_ kind: KeyKind) -> Bool { kind == KeyKind(.ellipticCurve, bits: Curve.bits) }

    /// The public half.
    public var publicKey: VerifyingKey<Curve> {
        get throws(KeychainError) { VerifyingKey(try handle.publicKey()) }
    }

    /// Returns a signature in DER.
    ///
    /// - Parameters:
    ///   - message: the bytes to sign.
    ///   - hash: the hash of the message; nil for the default of the curve.
    public func signature(for message: some DataProtocol, hash: HashAlgorithm? = nil) throws(KeychainError) -> Data {
        try handle.signature(of: message, .ecdsa(.x962, .message(hash ?? Curve.hash)))
    }

    /// Returns a signature as r ‖ s, the form of JSON Web Signatures.
    public func rawSignature(for message: some DataProtocol, hash: HashAlgorithm? = nil) throws(KeychainError) -> Data {
        try handle.signature(of: message, .ecdsa(.rfc4754, .message(hash ?? Curve.hash)))
    }
}

/// The public half of a key pair that signs with ECDSA.
public struct VerifyingKey<Curve: KeyCurve>: Sendable {
    let key: PublicKey

    init(_ key: PublicKey) {
        self.key = key
    }

    /// Creates a key from its point, `04 ‖ X ‖ Y`.
    public init(x963 bytes: some DataProtocol) throws(KeychainError) {
        key = try PublicKey.point(bytes, on: Curve.self)
    }

    /// The point, `04 ‖ X ‖ Y`.
    public var x963: Data { Data(key.external) }

    /// Returns the `SubjectPublicKeyInfo` in PEM.
    public func pem() throws(KeychainError) -> String { try key.pem() }

    /// Returns whether the signature in DER is valid. Bytes that are not a signature are an invalid
    /// signature.
    public func isValidSignature(
        _ signature: some DataProtocol, for message: some DataProtocol, hash: HashAlgorithm? = nil
    ) throws(KeychainError) -> Bool {
        try key.isValid(signature, for: message, .ecdsa(.x962, .message(hash ?? Curve.hash)))
    }

    /// Returns whether the signature in the form r ‖ s is valid.
    public func isValidRawSignature(
        _ signature: some DataProtocol, for message: some DataProtocol, hash: HashAlgorithm? = nil
    ) throws(KeychainError) -> Bool {
        try key.isValid(signature, for: message, .ecdsa(.rfc4754, .message(hash ?? Curve.hash)))
    }
}

/// A private key for ECDSA on P-256.
public typealias P256SigningKey = SigningKey<P256Curve>
/// A private key for ECDSA on P-384.
public typealias P384SigningKey = SigningKey<P384Curve>
/// A private key for ECDSA on P-521.
public typealias P521SigningKey = SigningKey<P521Curve>

extension PublicKey {
    package static func point<Curve: KeyCurve>(_ bytes: some DataProtocol, on curve: Curve.Type) throws(KeychainError)
        -> PublicKey
    {
        let key = try withContiguousBytes(bytes) { (bytes) throws(KeychainError) in
            try PublicKey(external: bytes, type: .ellipticCurve)
        }
        guard key.kind.bits == Curve.bits else { throw KeychainError(.param, "the point belongs to another curve") }
        return key
    }
}
