// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import KeyServices
public import KeychainModel
public import SecretMemory

/// The private half of a key pair for key agreement (ECDH) and decryption (ECIES).
public struct AgreementKey<Curve: KeyCurve>: KeychainKey {
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
    public var publicKey: AgreementPublicKey<Curve> {
        get throws(KeychainError) { AgreementPublicKey(try handle.publicKey()) }
    }

    /// Returns the key that both parties agree on, derived with the X9.63 function.
    ///
    /// - Parameters:
    ///   - other: the public half of the other party.
    ///   - count: the length of the key, in bytes.
    ///   - sharedInfo: input to the derivation that both parties know.
    ///   - hash: the hash of the derivation; nil for the default of the curve.
    public func sharedKey(
        with other: AgreementPublicKey<Curve>, count: Int, sharedInfo: Data = Data(), hash: HashAlgorithm? = nil
    ) throws(KeychainError) -> SharedSecret {
        try handle.key.exchanged(
            with: other.key, .ecdh(.cofactor, derivation: hash ?? Curve.hash),
            ExchangeParameters(requestedSize: count, sharedInfo: Array(sharedInfo)))
    }

    /// Returns the plaintext that was encrypted for this key with ECIES.
    ///
    /// - Throws: `errSecParam` for every defect of the ciphertext.
    public func decrypt(_ ciphertext: some DataProtocol) throws(KeychainError) -> SharedSecret {
        try handle.decrypted(ciphertext, AgreementPublicKey<Curve>.encryption)
    }
}

/// The public half of a key pair for key agreement and encryption.
public struct AgreementPublicKey<Curve: KeyCurve>: Sendable {
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

    /// Returns a ciphertext that only the private half can decrypt: Apple's
    /// `eciesEncryptionCofactorVariableIVX963…AESGCM`.
    public func encrypt(_ plaintext: some SecretConvertible) throws(KeychainError) -> Data {
        Data(
            try plaintext.sharedSecret().withUnsafeBytes { (bytes) throws(KeychainError) in
                try key.encrypted(bytes, Self.encryption)
            })
    }

    static var encryption: KeyAlgorithm { .ecies(.cofactor, Curve.hash, derivesIV: true) }
}

/// A private key for key agreement on P-256.
public typealias P256AgreementKey = AgreementKey<P256Curve>
/// A private key for key agreement on P-384.
public typealias P384AgreementKey = AgreementKey<P384Curve>
/// A private key for key agreement on P-521.
public typealias P521AgreementKey = AgreementKey<P521Curve>
