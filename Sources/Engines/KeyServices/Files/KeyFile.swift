// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A key of a file.
public enum KeyFileEntry: Sendable {
    case privateKey(SoftwareKey)
    case publicKey(PublicKey)

    public var publicKey: PublicKey {
        switch self {
        case .privateKey(let key): key.publicKey
        case .publicKey(let key): key
        }
    }
}

/// Key files: PEM or DER of PKCS #8 (plain or encrypted), PKCS #1, SEC 1 and SubjectPublicKeyInfo;
/// OpenSSH private keys, and lines of public ones. BER, curves without a name, and RSA keys of more than two
/// primes are refused.
public enum KeyFile {
    /// The structures that can be written.
    public enum Structure: String, Sendable, CaseIterable {
        /// PKCS #8 for private keys, SubjectPublicKeyInfo for public ones.
        case pkcs8
        /// PKCS #1 for RSA, SEC 1 for private keys of elliptic curves.
        case traditional
        /// OpenSSH: `openssh-key-v1`, and the line of `authorized_keys`.
        case openSSH
        /// The format of `SecKeyCopyExternalRepresentation`: PKCS #1 for RSA, X9.63 for elliptic
        /// curves.
        case external
    }

    /// Returns the keys of a file, in order. A text may contain several; blocks that are not keys that can
    /// be read, such as certificates, are skipped.
    ///
    /// - Parameters:
    ///   - passphrase: nil if there is none.
    ///   - allowsNone: whether PEM without a key is accepted.
    /// - Throws: errSecParam if the file contains no key or a malformed one; errSecAuthFailed if
    ///   the passphrase is missing or wrong; errSecUnimplemented for unsupported kinds.
    public static func read(
        _ bytes: UnsafeRawBufferPointer, passphrase: SharedSecret? = nil, allowsNone: Bool = false
    ) throws(KeychainError) -> [KeyFileEntry] {
        guard bytes.count <= maxLength else { throw .parameter("a key file must have at most \(maxLength >> 20) MiB") }
        if let blocks = try PEM.blocks(in: bytes) {
            var entries: [KeyFileEntry] = []
            for block in blocks {
                if let entry = try entry(of: block, passphrase) { entries.append(entry) }
            }
            guard !entries.isEmpty || allowsNone else { throw noKey(in: blocks) }
            return entries
        }
        if let keys = try OpenSSHPublicKey.all(in: bytes) { return keys.map { .publicKey($0) } }
        return [try entry(der: bytes, passphrase)]
    }

    private static func noKey(in blocks: [PEM.Block]) -> KeychainError {
        guard let other = blocks.first(where: { $0.label.hasSuffix(" KEY") }) else {
            return .parameter("the file contains no key")
        }
        return .unsupportedKey(other.quotedLabel)
    }

    private static func entry(of block: PEM.Block, _ passphrase: SharedSecret?) throws(KeychainError) -> KeyFileEntry? {
        guard PEMBlocks.keyLabels.contains(block.label) else { return nil }
        if block.label == "OPENSSH PRIVATE KEY" {
            return try block.content.withUnsafeBytes { (bytes) throws(KeychainError) in
                .privateKey(try OpenSSHPrivateKey.read(bytes))
            }
        }
        guard !block.hasHeaders else {
            throw KeychainError(
                .unimplemented, "the key has the weak legacy PEM encryption",
                hint: "openssl pkcs8 -topk8 -in FILE -out NEW")
        }
        return try block.content.withUnsafeBytes { (der) throws(KeychainError) in try entry(der: der, passphrase) }
    }

    private static func entry(der: UnsafeRawBufferPointer, _ passphrase: SharedSecret?) throws(KeychainError)
        -> KeyFileEntry
    {
        // The formats of SecKey are not formats of libcrypto, or their length identifies them.
        if let key = try? SoftwareKey(external: der, type: .rsa) { return .privateKey(key) }
        if let key = try? PublicKey(external: der, type: .rsa) { return .publicKey(key) }
        if der.first == 4 {
            if let key = try? SoftwareKey(external: der, type: .ellipticCurve) { return .privateKey(key) }
            return .publicKey(try PublicKey(external: der, type: .ellipticCurve))
        }
        guard DERValidation.isValid(der) else {
            throw KeychainError(
                .param, "the bytes are not a key in DER; other ASN.1 encodings, such as BER, are not supported",
                hint: "openssl pkey -in FILE -out NEW")
        }
        let decoded: DecodedKey
        do throws(KeyDecodingError) {
            if let passphrase {
                decoded = try passphrase.withUnsafeBytes { (passphrase) throws(KeyDecodingError) in
                    try AsymmetricKey.decode(der, passphrase: passphrase)
                }
            } else {
                decoded = try AsymmetricKey.decode(der)
            }
        } catch {
            throw KeychainError(error, hasPassphrase: passphrase != nil)
        }
        return try entry(decoded)
    }

    /// Converts a decoded key, and checks all of its numbers.
    static func entry(_ decoded: DecodedKey) throws(KeychainError) -> KeyFileEntry {
        let key = decoded.key
        guard let curve = decoded.curve else {
            let numbers = try crypto { () throws(OpenSSLError) in try key.publicRSANumbers() }
            guard decoded.isPrivate else { return .publicKey(try PublicKey(rsa: key)) }
            let secrets = try crypto { () throws(OpenSSLError) in try key.secretRSANumbers() }
            return .privateKey(
                try SoftwareKey(
                    rsa: [SharedSecret(copying: numbers.modulus), SharedSecret(copying: numbers.exponent)] + secrets))
        }
        let point = try crypto { () throws(OpenSSLError) in try key.publicPoint(of: curve) }
        return try point.withContiguousBytes { (point) throws(KeychainError) in
            guard decoded.isPrivate else { return .publicKey(try PublicKey(curve, point: point)) }
            let scalar = try crypto { () throws(OpenSSLError) in SharedSecret(try key.scalar(of: curve)) }
            return try scalar.withUnsafeBytes { (scalar) throws(KeychainError) in
                .privateKey(try SoftwareKey(curve, scalar: scalar, point: point))
            }
        }
    }

    static let maxLength = 16 << 20
}

extension KeychainError {
    /// The error for a key of a type that is not read; the message has those that are.
    static func unsupportedKey(_ type: String, hint: String? = nil) -> KeychainError {
        KeychainError(
            .unimplemented,
            "keys of the kind \(type) are not supported; supported are RSA, and ECDSA on P-256, P-384 and P-521",
            hint: hint)
    }

    fileprivate init(_ error: KeyDecodingError, hasPassphrase: Bool) {
        switch error {
        case .passphrase where hasPassphrase: self.init(.authFailed, "the passphrase of the key is wrong")
        case .passphrase:
            self.init(.authFailed, "the key is encrypted, and no passphrase was given", hint: "--passphrase-file FILE")
        case .type(let name): self = .unsupportedKey(name)
        case .unsupported(let kind): self.init(.unimplemented, "keys of the kind \(kind) are not supported")
        case .malformed: self.init(.param, "the bytes are not a key in a known format")
        }
    }
}
