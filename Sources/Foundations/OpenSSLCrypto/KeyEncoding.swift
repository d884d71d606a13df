// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// The ASN.1 structures of encoded keys.
public enum KeyStructure: Sendable {
    /// PKCS #8 `PrivateKeyInfo` (RFC 5208).
    case privateKeyInfo
    /// `SubjectPublicKeyInfo` (RFC 5280).
    case subjectPublicKeyInfo
    /// PKCS #1 for RSA (RFC 8017), SEC 1 `ECPrivateKey` for elliptic curves (RFC 5915).
    case typeSpecific
}

/// A decoded key and its properties.
public struct DecodedKey: Sendable {
    public let key: AsymmetricKey
    public let isPrivate: Bool
    /// nil for RSA.
    public let curve: EllipticCurve?

    public init(key: AsymmetricKey, isPrivate: Bool, curve: EllipticCurve?) {
        self.key = key
        self.isPrivate = isPrivate
        self.curve = curve
    }
}

/// Why bytes could not be decoded as a key.
public enum KeyDecodingError: Error, Sendable {
    /// The key is encrypted, and the passphrase is missing or wrong.
    case passphrase
    /// The key is of another type than RSA and the elliptic curves of ``EllipticCurve``.
    case type(String)
    /// The key has one of these types, and another property that is unsupported.
    case unsupported(String)
    case malformed
}

extension AsymmetricKey {
    /// Decodes a key in any of the structures, encrypted or not.
    ///
    /// - Parameters:
    ///   - der: one DER element without trailing bytes.
    ///   - passphrase: nil rejects an encrypted key. The user is never asked for a passphrase.
    public static func decode(
        _ der: UnsafeRawBufferPointer, passphrase: UnsafeRawBufferPointer? = nil
    ) throws(KeyDecodingError) -> DecodedKey {
        let encryption = KeyEncryption(of: der)
        if let refusal = encryption.refusal { throw .unsupported(refusal) }
        for isPrivate in encryption == .supported ? [true] : [true, false] {
            if let key = try decode(der, passphrase, isPrivate: isPrivate) {
                return DecodedKey(key: key, isPrivate: isPrivate, curve: try key.curve())
            }
        }
        throw encryption == .supported ? .passphrase : .malformed
    }

    private static func decode(
        _ der: UnsafeRawBufferPointer, _ passphrase: UnsafeRawBufferPointer?, isPrivate: Bool
    ) throws(KeyDecodingError) -> AsymmetricKey? {
        defer { ERR_clear_error() }
        var key: OpaquePointer?
        var bytes = der.octets
        var rest = der.count
        // libcrypto keeps the pointer to `key` from the first call to the last.
        let isRead = withUnsafeMutablePointer(to: &key) { key in
            let selection = isPrivate ? LATCHKEY_KEYPAIR : LATCHKEY_PUBLIC_KEY
            let form: StaticString = "DER"
            guard let context = OSSL_DECODER_CTX_new_for_pkey(key, form.characters, nil, nil, selection, nil, nil)
            else { return false }
            defer { OSSL_DECODER_CTX_free(context) }
            if let passphrase, OSSL_DECODER_CTX_set_passphrase(context, passphrase.octets, passphrase.count) != 1 {
                return false
            }
            return OSSL_DECODER_from_data(context, &bytes, &rest) == 1
        }
        guard let key else { return nil }
        let decoded = AsymmetricKey(adopting: key)
        return isRead && rest == 0 ? decoded : nil
    }

    /// Returns the curve of the key; nil for RSA.
    ///
    /// - Throws: ``KeyDecodingError/unsupported(_:)`` for RSA with more than two primes (RFC 8017,
    ///   section 3.2), and for a curve with explicit parameters (RFC 5480, section 2.1.1, requires its
    ///   name; libcrypto treats parameters that resemble a known curve as that curve);
    ///   ``KeyDecodingError/type(_:)`` for other types and curves.
    func curve() throws(KeyDecodingError) -> EllipticCurve? {
        defer { ERR_clear_error() }
        if EVP_PKEY_is_a(pointer, "RSA") == 1 {
            guard !hasThirdPrime else { throw .unsupported("RSA with more than two primes") }
            return nil
        }
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else {
            let name = EVP_PKEY_get0_type_name(pointer).map { String(cString: $0) }
            throw .type(name.map { ["ED25519": "Ed25519", "ED448": "Ed448"][$0] ?? $0 } ?? "unknown")
        }
        var isExplicit: Int32 = 0
        if EVP_PKEY_get_int_param(pointer, "decoded-from-explicit", &isExplicit) == 1, isExplicit != 0 {
            throw .unsupported("a curve with explicit parameters")
        }
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_utf8_string_param(pointer, "group", &name, name.count, &length) == 1 else {
            ERR_clear_error()
            throw .unsupported("a curve without a name")
        }
        let group = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let curve = EllipticCurve(name: group) else { throw .type("ECDSA on \(group)") }
        return curve
    }

    private var hasThirdPrime: Bool {
        var prime: OpaquePointer?
        defer { BN_clear_free(prime) }
        return EVP_PKEY_get_bn_param(pointer, "rsa-factor3", &prime) == 1
    }

    /// Returns the key in DER.
    public func encoded(_ structure: KeyStructure) throws(OpenSSLError) -> SharedSecret {
        let (selection, name): (Int32, StaticString) =
            switch structure {
            case .privateKeyInfo: (LATCHKEY_KEYPAIR, "PrivateKeyInfo")
            case .subjectPublicKeyInfo: (LATCHKEY_PUBLIC_KEY, "SubjectPublicKeyInfo")
            case .typeSpecific: (LATCHKEY_KEYPAIR, "type-specific")
            }
        let form: StaticString = "DER"
        // libcrypto keeps the pointers to both names.
        guard let context = OSSL_ENCODER_CTX_new_for_pkey(pointer, selection, form.characters, name.characters, nil)
        else {
            throw .last("encoding a key")
        }
        defer { OSSL_ENCODER_CTX_free(context) }
        var bytes: UnsafeMutablePointer<UInt8>?
        var length = 0
        guard OSSL_ENCODER_to_data(context, &bytes, &length) == 1, let bytes else { throw .last("encoding a key") }
        defer { CRYPTO_clear_free(bytes, length, nil, 0) }
        return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(start: bytes, count: length)))
    }

    /// Returns the key as PKCS #8 `EncryptedPrivateKeyInfo` under a passphrase: PBES2 (RFC 8018)
    /// with PBKDF2-HMAC-SHA-256 and AES-256-CBC.
    public func encoded(under passphrase: UnsafeRawBufferPointer, rounds: Int32 = 600_000) throws(OpenSSLError)
        -> [UInt8]
    {
        guard let plain = EVP_PKEY2PKCS8(pointer) else { throw .last("encoding a key") }
        defer { PKCS8_PRIV_KEY_INFO_free(plain) }
        var salt = RandomSalt.bytes()
        guard
            let scheme = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), rounds, &salt, Int32(salt.count), nil, NID_hmacWithSHA256)
        else {
            throw .last("encoding a key")
        }
        let text = passphrase.assumingMemoryBound(to: CChar.self).baseAddress
        guard let sealed = PKCS8_set0_pbe(text, Int32(passphrase.count), plain, scheme) else {
            X509_ALGOR_free(scheme)
            throw .last("encoding a key")
        }
        defer { X509_SIG_free(sealed) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let length = i2d_X509_SIG(sealed, &bytes)
        guard length > 0, let bytes else { throw .last("encoding a key") }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
    }
}

private enum RandomSalt {
    static func bytes() -> [UInt8] { SecretBytes.random(count: 16).withUnsafeBytes { Array($0) } }
}

extension StaticString {
    /// The text with its terminating zero, in static memory.
    var characters: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}
