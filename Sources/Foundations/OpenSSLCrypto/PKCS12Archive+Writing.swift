// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

extension PKCS12Archive {
    /// The protection of a file.
    public enum Protection: Sendable {
        /// PBES2 with AES-256 and HMAC-SHA-256, integrity by SHA-256.
        case modern
        /// The same, with PBMAC1 (RFC 9579): no derivation is the one of PKCS #12 itself. Readers since
        /// 2024 know it.
        case modernWithPBMAC1
        /// Triple DES and SHA-1, readable for old systems.
        case legacy
    }

    /// Returns the archive as a PKCS #12 file.
    ///
    /// - Parameter passphrase: in UTF-8, without a zero byte.
    public func written(under passphrase: SharedSecret, _ protection: Protection = .modern) throws(OpenSSLError)
        -> SharedSecret
    {
        let der = try CString(passphrase).withPointer { (text) throws(OpenSSLError) in
            let file = try Writer(protection, text).file(self)
            defer { PKCS12_free(file) }
            return try Self.encoded(file)
        }
        guard protection == .modernWithPBMAC1 else { return der }
        return try der.withUnsafeBytes { (der) throws(OpenSSLError) in
            guard let parts = PKCS12Parts(der) else { throw OpenSSLError(message: "writing PKCS #12") }
            let mac = PasswordMAC.generated(iterations: Writer.rounds)
            let code = try mac.code(of: parts.authenticated, passphrase)
            // The contents that were written here are encrypted.
            return SharedSecret(copying: PasswordMAC.sequence(Array(parts.beforeMAC) + mac.macData(code)))
        }
    }

    /// The DER of a file. A file that was read may have keys in plain text.
    static func encoded(_ file: OpaquePointer) throws(OpenSSLError) -> SharedSecret {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PKCS12(file, &bytes)
        guard count > 0, let bytes else { throw .last("writing PKCS #12") }
        defer { CRYPTO_clear_free(bytes, Int(count), nil, 0) }
        return SharedSecret(copying: UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}

/// Writes one file.
private struct Writer {
    private let scheme: Int32
    /// Nil for PBMAC1, because it is written afterwards.
    private let digest: OpaquePointer?
    private let passphrase: UnsafePointer<CChar>
    /// The iterations of each of the three derivations: at most a third of a second each.
    static let rounds: Int32 = 600_000

    init(_ protection: PKCS12Archive.Protection, _ passphrase: UnsafePointer<CChar>) {
        scheme = protection == .legacy ? NID_pbe_WithSHA1And3_Key_TripleDES_CBC : NID_aes_256_cbc
        digest =
            switch protection {
            case .modern: EVP_sha256()
            case .modernWithPBMAC1: nil
            case .legacy: EVP_sha1()
            }
        self.passphrase = passphrase
    }

    func file(_ archive: PKCS12Archive) throws(OpenSSLError) -> OpaquePointer {
        var safes: OpaquePointer?
        defer { OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        if !archive.certificates.isEmpty {
            var bags: OpaquePointer?
            defer { Self.free(bags) }
            for entry in archive.certificates { try add(entry, to: &bags) }
            guard PKCS12_add_safe_ex(&safes, bags, scheme, Self.rounds, passphrase, LegacyProviders.context, nil) == 1
            else {
                throw .last("encrypting certificates")
            }
        }
        if !archive.keys.isEmpty {
            var bags: OpaquePointer?
            defer { Self.free(bags) }
            for entry in archive.keys { try add(entry, to: &bags) }
            // Each key is encrypted separately.
            guard PKCS12_add_safe(&safes, bags, -1, 0, nil) == 1 else { throw .last("writing keys") }
        }
        guard let file = PKCS12_add_safes_ex(safes, 0, LegacyProviders.context, nil) else {
            throw .last("writing PKCS #12")
        }
        guard digest == nil || PKCS12_set_mac(file, passphrase, -1, nil, 0, Self.rounds, digest) == 1 else {
            PKCS12_free(file)
            throw .last("authenticating PKCS #12")
        }
        return file
    }

    private static func free(_ bags: OpaquePointer?) {
        OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) }
    }

    private func add(_ entry: PKCS12Archive.CertificateEntry, to bags: inout OpaquePointer?) throws(OpenSSLError) {
        let certificate = entry.der.withUnsafeBufferPointer { der in
            var bytes = der.baseAddress
            return d2i_X509(nil, &bytes, der.count)
        }
        guard let certificate else { throw .last("reading a certificate") }
        defer { X509_free(certificate) }
        guard let bag = PKCS12_add_cert(&bags, certificate) else { throw .last("writing a certificate") }
        try set(entry.attributes, on: bag)
    }

    private func add(_ entry: PKCS12Archive.KeyEntry, to bags: inout OpaquePointer?) throws(OpenSSLError) {
        let key = entry.key.key.pointer
        guard let bag = PKCS12_add_key_ex(&bags, key, 0, Self.rounds, scheme, passphrase, LegacyProviders.context, nil)
        else {
            throw .last("encrypting a key")
        }
        try set(entry.attributes, on: bag)
    }

    private func set(_ attributes: PKCS12Archive.Attributes, on bag: OpaquePointer) throws(OpenSSLError) {
        if let name = attributes.friendlyName, PKCS12_add_friendlyname_utf8(bag, name, -1) != 1 {
            throw .last("setting the name of an entry")
        }
        if var identifier = attributes.localKeyID, PKCS12_add_localkeyid(bag, &identifier, Int32(identifier.count)) != 1
        {
            throw .last("setting the key ID of an entry")
        }
    }
}
