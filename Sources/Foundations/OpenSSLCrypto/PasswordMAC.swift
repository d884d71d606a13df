// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import LinuxSystem
internal import SecretMemory

/// PBMAC1 (RFC 8018, section 7.1), as PKCS #12 files use it for their integrity (RFC 9579): HMAC with a
/// key of PBKDF2.
struct PasswordMAC {
    private let salt: [UInt8]
    private let iterations: Int32
    private let keyByteCount: Int
    private let derivationHash: HashFunction
    private let hash: HashFunction

    /// RFC 9579, section 4: a key has at least 20 bytes. At most as many as the longest digest, so that
    /// a file does not determine the work with it.
    private static let keyByteCounts = 20...64

    /// The parameters for a new file.
    static func generated(iterations: Int32) -> PasswordMAC {
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        return PasswordMAC(
            salt: salt, iterations: iterations, keyByteCount: 32, derivationHash: .sha256, hash: .sha256)
    }

    private init(
        salt: [UInt8], iterations: Int32, keyByteCount: Int, derivationHash: HashFunction, hash: HashFunction
    ) {
        (self.salt, self.iterations, self.keyByteCount) = (salt, iterations, keyByteCount)
        (self.derivationHash, self.hash) = (derivationHash, hash)
    }

    /// Reads the algorithm of a file's integrity check.
    ///
    /// - Throws: ``PKCS12Error/unsupported(_:)`` for another derivation, an unknown hash, a key of a
    ///   wrong length, or too many iterations. Nothing is derived.
    init(_ algorithm: X509_ALGOR) throws(PKCS12Error) {
        // The parameters have the syntax of PBES2: a derivation, and the algorithm that uses the key.
        guard let found = ASN1_TYPE_unpack_sequence(PBE2PARAM_it(), algorithm.parameter) else { throw .malformed }
        let parameters = found.assumingMemoryBound(to: PBE2PARAM.self)
        defer { PBE2PARAM_free(parameters) }
        guard let derivation = parameters.pointee.keyfunc?.pointee, let scheme = parameters.pointee.encryption?.pointee
        else { throw .malformed }
        guard OBJ_obj2nid(derivation.algorithm) == NID_id_pbkdf2 else {
            throw .unsupported("PBMAC1 with a key derivation that is not PBKDF2")
        }
        guard let inner = ASN1_TYPE_unpack_sequence(PBKDF2PARAM_it(), derivation.parameter) else { throw .malformed }
        let pbkdf2 = inner.assumingMemoryBound(to: PBKDF2PARAM.self)
        defer { PBKDF2PARAM_free(pbkdf2) }
        guard let salt = pbkdf2.pointee.salt, ASN1_TYPE_get(salt) == V_ASN1_OCTET_STRING,
            let octets = salt.pointee.value.octet_string
        else { throw .unsupported("PBMAC1 without a salt of its own") }
        let count = KDFIterations.count(pbkdf2.pointee.iter)
        guard 1...KDFIterations.maxIterations ~= count, let iterations = Int32(exactly: count) else {
            throw .unsupported("a key derivation with \(count) rounds")
        }
        guard let length = pbkdf2.pointee.keylength.map({ ASN1_INTEGER_get($0) }), Self.keyByteCounts ~= length else {
            throw .unsupported("PBMAC1 without a key length from 20 to 64 bytes")
        }
        // Without a PRF, it is HMAC with SHA-1 (RFC 8018, appendix A.2).
        let prf = pbkdf2.pointee.prf.map { Self.hash(ofHMAC: $0.pointee) } ?? .sha1
        guard let prf, let hash = Self.hash(ofHMAC: scheme) else {
            throw .unsupported("PBMAC1 with an unknown hash function")
        }
        self.init(
            salt: Array(
                UnsafeBufferPointer(start: ASN1_STRING_get0_data(octets), count: Int(ASN1_STRING_length(octets)))),
            iterations: iterations, keyByteCount: length, derivationHash: prf, hash: hash)
    }

    private static func hash(ofHMAC algorithm: X509_ALGOR) -> HashFunction? {
        switch OBJ_obj2nid(algorithm.algorithm) {
        case NID_hmacWithSHA1: .sha1
        case NID_hmacWithSHA224: .sha224
        case NID_hmacWithSHA256: .sha256
        case NID_hmacWithSHA384: .sha384
        case NID_hmacWithSHA512: .sha512
        default: nil
        }
    }

    /// The cost of the derivation, in iterations of one block.
    var cost: Int { Int(iterations) * ((keyByteCount + derivationHash.byteCount - 1) / derivationHash.byteCount) }

    /// The code of a message under a passphrase in UTF-8.
    func code(of message: UnsafeRawBufferPointer, _ passphrase: SharedSecret) throws(OpenSSLError) -> [UInt8] {
        let key = SecretBuffer(count: keyByteCount)
        try SharedSecret(copying: salt).withUnsafeBytes { (salt) throws(OpenSSLError) in
            try passphrase.withUnsafeBytes { (passphrase) throws(OpenSSLError) in
                try key.withUnsafeMutableBytes { (key) throws(OpenSSLError) in
                    try KeyDerivation.pbkdf2(
                        passphrase, salt: salt, hash: derivationHash, rounds: iterations, into: key)
                }
            }
        }
        var code = [UInt8](repeating: 0, count: hash.byteCount)
        var count: UInt32 = 0
        let found = key.withUnsafeMutableBytes { key in
            HMAC(hash.algorithm, key.baseAddress, Int32(key.count), message.octets, message.count, &code, &count)
        }
        guard found != nil, Int(count) == code.count else { throw .last("HMAC") }
        return code
    }

    // MARK: DER

    /// `MacData` with a code. Salt and iterations outside of the algorithm are not used (RFC 9579,
    /// section 5).
    func macData(_ code: [UInt8]) -> [UInt8] {
        let prf = Self.sequence(Self.hmacWithSHA256 + [0x05, 0x00])
        let derivation = Self.sequence(
            Self.pbkdf2
                + Self.sequence(
                    Self.element(0x04, salt) + Self.integer(Int(iterations)) + Self.integer(keyByteCount) + prf))
        let algorithm = Self.sequence(Self.pbmac1 + Self.sequence(derivation + prf))
        return Self.sequence(
            Self.sequence(algorithm + Self.element(0x04, code)) + Self.element(0x04, Array("NOT USED".utf8)))
    }

    private static let pbmac1: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0E]
    private static let pbkdf2: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]
    private static let hmacWithSHA256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x09]

    static func sequence(_ content: [UInt8]) -> [UInt8] { element(0x30, content) }

    private static func integer(_ number: Int) -> [UInt8] {
        let bytes = Array(number.bigEndianBytes.drop { $0 == 0 })
        return element(0x02, (bytes.first ?? 0x80) >= 0x80 ? [0] + bytes : bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let length = content.count.bigEndianBytes.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}

/// The parts of a PKCS #12 file in DER (RFC 7292, section 4). libcrypto shows only some of them. The bytes of the file
/// must outlive them; they may be secret, and are not copied.
struct PKCS12Parts {
    /// The version and the `AuthenticatedSafe` with its type, as they are encoded.
    let beforeMAC: UnsafeRawBufferPointer
    /// The authenticated bytes: the content of the `AuthenticatedSafe`.
    let authenticated: UnsafeRawBufferPointer

    /// Nil if the bytes are not such a file in DER.
    init?(_ der: UnsafeRawBufferPointer) {
        var file = der[...]
        guard var content = Self.element(0x30, &file), file.isEmpty else { return nil }
        let start = content.startIndex
        guard Self.element(0x02, &content) != nil, var info = Self.element(0x30, &content) else { return nil }
        beforeMAC = UnsafeRawBufferPointer(rebasing: der[start..<content.startIndex])
        guard Self.element(0x06, &info) != nil, var explicit = Self.element(0xA0, &info),
            let octets = Self.element(0x04, &explicit), explicit.isEmpty, info.isEmpty
        else { return nil }
        authenticated = UnsafeRawBufferPointer(rebasing: octets)
    }

    /// Removes the first element, and returns its content; nil if it has another tag or is not
    /// complete.
    private static func element(
        _ tag: UInt8, _ rest: inout Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer>? {
        guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let digits = rest.prefix(Int(first & 0x7F))
            guard 0x81...0x84 ~= first, digits.count == Int(first & 0x7F), let long = Int(bigEndianBytes: digits) else {
                return nil
            }
            length = long
            rest = rest.dropFirst(digits.count)
        }
        guard rest.count >= length else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
