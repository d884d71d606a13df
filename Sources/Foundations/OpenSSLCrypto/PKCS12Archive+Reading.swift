// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

extension PKCS12Archive {
    /// Reads a file with or without an integrity check, with any of the schemes that libcrypto
    /// supports, legacy ones included.
    ///
    /// - Parameters:
    ///   - der: the file without trailing bytes.
    ///   - passphrase: in UTF-8; empty for none.
    ///   - maxIterations: of all derivations of keys together; nil for some seconds of work.
    public init(
        reading der: UnsafeRawBufferPointer, passphrase: SharedSecret, maxIterations: Int? = nil
    ) throws(PKCS12Error) {
        var reader = Reader(passphrase, maxIterations ?? 4 * KDFIterations.maxIterations)
        self = try reader.read(der)
    }
}

/// Reads one file.
private struct Reader {
    private let secret: SharedSecret
    private let passphrase: CString
    /// The iterations left for all derivations of the file together.
    private var rounds: Int
    private var bags = 10_000
    private var archive = PKCS12Archive()
    private var hasNoPassphrase = false

    init(_ passphrase: SharedSecret, _ maxIterations: Int) {
        (secret, self.passphrase, rounds) = (passphrase, CString(passphrase), maxIterations)
    }

    mutating func read(_ der: UnsafeRawBufferPointer) throws(PKCS12Error) -> PKCS12Archive {
        defer { ERR_clear_error() }
        var file = PKCS12_init_ex(NID_pkcs7_data, LegacyProviders.context, nil)
        defer { PKCS12_free(file) }
        var bytes: UnsafePointer<UInt8>? = der.octets
        // On failure it frees its argument.
        guard let end = der.octets.map({ $0 + der.count }), d2i_PKCS12(&file, &bytes, der.count) != nil, bytes == end,
            let file
        else {
            throw .malformed
        }
        try verifyIntegrity(of: file)
        guard let safes = PKCS12_unpack_authsafes(file) else { throw .malformed }
        defer { OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        for index in 0..<OPENSSL_sk_num(safes) {
            guard let safe = OPENSSL_sk_value(safes, index)?.assumingMemoryBound(to: PKCS7.self) else {
                throw .malformed
            }
            try take(safe)
        }
        return archive
    }

    private mutating func verifyIntegrity(of file: OpaquePointer) throws(PKCS12Error) {
        guard PKCS12_mac_present(file) == 1 else { return }
        var iterations: UnsafePointer<ASN1_INTEGER>?
        var algorithm: UnsafePointer<X509_ALGOR>?
        var code: UnsafePointer<ASN1_OCTET_STRING>?
        PKCS12_get0_mac(&code, &algorithm, nil, &iterations, file)
        guard let code, let algorithm else { throw .malformed }
        if OBJ_obj2nid(algorithm.pointee.algorithm) == NID_pbmac1 {
            return try verify(code, PasswordMAC(algorithm.pointee), of: file)
        }
        try spend(KDFIterations.count(iterations))
        if passphrase.withPointer({ PKCS12_verify_mac(file, $0, -1) == 1 }) { return }
        // An empty passphrase can be encoded in two ways; the one that is valid here is also used
        // for the contents.
        guard passphrase.isEmpty else { throw .passphrase }
        try spend(KDFIterations.count(iterations))
        guard PKCS12_verify_mac(file, nil, 0) == 1 else { throw .passphrase }
        hasNoPassphrase = true
    }

    /// Verifies PBMAC1, known to libcrypto since version 3.4. Its number of iterations is a part of its algorithm.
    private mutating func verify(
        _ code: UnsafePointer<ASN1_OCTET_STRING>, _ mac: PasswordMAC, of file: OpaquePointer
    ) throws(PKCS12Error) {
        try spend(mac.cost)
        // Encoded again, because the file can be in BER.
        guard let der = try? PKCS12Archive.encoded(file) else { throw .malformed }
        let expected = der.withUnsafeBytes { der in
            PKCS12Parts(der).flatMap { try? mac.code(of: $0.authenticated, secret) }
        }
        guard let expected else { throw .malformed }
        guard expected.count == Int(ASN1_STRING_length(code)),
            CRYPTO_memcmp(expected, ASN1_STRING_get0_data(code), expected.count) == 0
        else { throw .passphrase }
    }

    /// Calls `body` with the passphrase in the file's encoding: nil if there is none. An empty passphrase is different.
    private func withPassphrase<Result>(_ body: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
        hasNoPassphrase ? body(nil, 0) : passphrase.withPointer { body($0, -1) }
    }

    private mutating func take(_ safe: UnsafeMutablePointer<PKCS7>) throws(PKCS12Error) {
        let contents: OpaquePointer?
        switch OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data: contents = PKCS12_unpack_p7data(safe)
        case NID_pkcs7_encrypted:
            guard let algorithm = safe.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm?.pointee else {
                throw .malformed
            }
            try spend(algorithm)
            contents = withPassphrase { PKCS12_unpack_p7encdata(safe, $0, $1) }
            guard contents != nil else { throw refusal(of: algorithm) }
        default: throw .unsupported("contents that are encrypted for a public key")
        }
        guard let contents else { throw .malformed }
        defer { OPENSSL_sk_pop_free(contents) { PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
        try take(bags: contents, depth: 0)
    }

    private mutating func take(bags contents: OpaquePointer, depth: Int) throws(PKCS12Error) {
        guard depth < 8 else { throw .malformed }
        for index in 0..<OPENSSL_sk_num(contents) {
            bags -= 1
            guard bags >= 0, let bag = OPENSSL_sk_value(contents, index).map({ OpaquePointer($0) }) else {
                throw .malformed
            }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag: try take(key: PKCS12_SAFEBAG_get0_p8inf(bag), of: bag)
            case NID_pkcs8ShroudedKeyBag: try takeShroudedKey(bag)
            case NID_certBag: try takeCertificate(bag)
            case NID_safeContentsBag:
                guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { throw .malformed }
                try take(bags: inner, depth: depth + 1)
            case NID_crlBag: skip("revocation lists")
            case NID_secretBag: skip("secrets of applications")
            default: skip("entries of an unknown kind")
            }
        }
    }

    private mutating func skip(_ kind: String) {
        if !archive.skippedKinds.contains(kind) { archive.skippedKinds.append(kind) }
    }

    private mutating func takeShroudedKey(_ bag: OpaquePointer) throws(PKCS12Error) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        guard let shrouded = PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw .malformed }
        X509_SIG_get0(shrouded, &algorithm, nil)
        guard let algorithm = algorithm?.pointee else { throw .malformed }
        try spend(algorithm)
        let key = withPassphrase { PKCS12_decrypt_skey_ex(bag, $0, $1, LegacyProviders.context, nil) }
        guard let key else { throw refusal(of: algorithm) }
        defer { PKCS8_PRIV_KEY_INFO_free(key) }
        try take(key: key, of: bag)
    }

    private mutating func take(key info: OpaquePointer?, of bag: OpaquePointer) throws(PKCS12Error) {
        guard let info, let pointer = EVP_PKCS82PKEY_ex(info, nil, nil) else { throw .malformed }
        let key = AsymmetricKey(adopting: pointer)
        do throws(KeyDecodingError) {
            let decoded = DecodedKey(key: key, isPrivate: true, curve: try key.curve())
            archive.keys.append(PKCS12Archive.KeyEntry(key: decoded, attributes: attributes(of: bag)))
        } catch {
            switch error {
            case .type(let name), .unsupported(let name): throw .unsupported("a key of the kind \(name)")
            case .passphrase, .malformed: throw .malformed
            }
        }
    }

    private mutating func takeCertificate(_ bag: OpaquePointer) throws(PKCS12Error) {
        guard PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate, let certificate = PKCS12_SAFEBAG_get1_cert(bag)
        else {
            throw .unsupported("a certificate that is not X.509")
        }
        defer { X509_free(certificate) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { throw .malformed }
        defer { CRYPTO_free(bytes, nil, 0) }
        let der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        archive.certificates.append(PKCS12Archive.CertificateEntry(der: der, attributes: attributes(of: bag)))
    }

    private func attributes(of bag: OpaquePointer) -> PKCS12Archive.Attributes {
        var attributes = PKCS12Archive.Attributes()
        if let name = PKCS12_get_friendlyname(bag) {
            defer { CRYPTO_free(name, nil, 0) }
            attributes.friendlyName = String(cString: name)
        }
        if let value = PKCS12_SAFEBAG_get0_attr(bag, NID_localKeyID), ASN1_TYPE_get(value) == V_ASN1_OCTET_STRING,
            let string = value.pointee.value.octet_string
        {
            attributes.localKeyID = Array(
                UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
        }
        return attributes
    }

    // MARK: Costs

    private mutating func spend(_ algorithm: X509_ALGOR) throws(PKCS12Error) {
        try spend(KDFIterations.of(algorithm) ?? 0)
    }

    private mutating func spend(_ count: Int) throws(PKCS12Error) {
        guard count <= KDFIterations.maxIterations, count <= rounds else {
            throw .unsupported("a key derivation with \(count) rounds")
        }
        rounds -= count
    }

    /// Returns why decryption failed: if the scheme is known, the passphrase is wrong.
    private func refusal(of algorithm: X509_ALGOR) -> PKCS12Error {
        let code = ERR_peek_error()
        let library = Int32((code >> 23) & 0xFF)
        let reason = Int32(code & 0x7F_FFFF)
        let isUnknown =
            library == ERR_LIB_EVP
            && [EVP_R_UNSUPPORTED_ALGORITHM, EVP_R_UNKNOWN_PBE_ALGORITHM, EVP_R_UNKNOWN_CIPHER].contains(reason)
        return isUnknown ? .unsupported(name(of: algorithm)) : .passphrase
    }

    private func name(of algorithm: X509_ALGOR) -> String {
        let number = OBJ_obj2nid(algorithm.algorithm)
        return OBJ_nid2ln(number).map { String(cString: $0) } ?? "an unknown encryption scheme"
    }
}
