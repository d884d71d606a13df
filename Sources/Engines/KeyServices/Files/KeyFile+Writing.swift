// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

extension KeyFile {
    /// Encodes a key as a file.
    ///
    /// - Parameters:
    ///   - isPEM: true for PEM, false for DER. OpenSSH keys are always text, external
    ///     representations never.
    ///   - passphrase: encrypts a private key; only PKCS #8.
    /// - Throws: errSecParam if the structure does not support the key.
    public static func write(
        _ entry: KeyFileEntry, as structure: Structure, isPEM: Bool = true, passphrase: SharedSecret? = nil
    ) throws(KeychainError) -> SharedSecret {
        switch entry {
        case .privateKey(let key): return try write(key, structure, isPEM, passphrase)
        case .publicKey(let key):
            guard passphrase == nil else { throw .parameter("a public key cannot be encrypted") }
            return try write(key, structure, isPEM)
        }
    }

    private static func write(
        _ key: SoftwareKey, _ structure: Structure, _ isPEM: Bool, _ passphrase: SharedSecret?
    ) throws(KeychainError) -> SharedSecret {
        if let passphrase {
            guard structure == .pkcs8 else { throw .parameter("only PKCS #8 can be encrypted") }
            guard passphrase.count > 0 else { throw .parameter("the passphrase is empty") }
            let sealed = try passphrase.withUnsafeBytes { (passphrase) throws(KeychainError) in
                try crypto { () throws(OpenSSLError) in SharedSecret(copying: try key.key.encoded(under: passphrase)) }
            }
            return isPEM ? PEMText.of(sealed, label: "ENCRYPTED PRIVATE KEY") : sealed
        }
        switch structure {
        case .external: return try key.external()
        case .openSSH:
            return PEMText.of(try OpenSSHPrivateKey.written(key), label: "OPENSSH PRIVATE KEY", lineLength: 70)
        case .pkcs8:
            let der = try crypto { () throws(OpenSSLError) in try key.key.encoded(.privateKeyInfo) }
            return isPEM ? PEMText.of(der, label: "PRIVATE KEY") : der
        case .traditional:
            let der = try crypto { () throws(OpenSSLError) in try key.key.encoded(.typeSpecific) }
            return isPEM ? PEMText.of(der, label: key.kind.type == .rsa ? "RSA PRIVATE KEY" : "EC PRIVATE KEY") : der
        }
    }

    private static func write(_ key: PublicKey, _ structure: Structure, _ isPEM: Bool) throws(KeychainError)
        -> SharedSecret
    {
        switch structure {
        case .external: return SharedSecret(copying: key.external)
        case .openSSH: return SharedSecret(copying: try OpenSSHPublicKey.line(key).utf8)
        case .traditional where key.kind.type == .rsa:
            let der = SharedSecret(copying: key.external)
            return isPEM ? PEMText.of(der, label: "RSA PUBLIC KEY") : der
        case .pkcs8, .traditional:
            let der = try crypto { () throws(OpenSSLError) in try key.key.encoded(.subjectPublicKeyInfo) }
            return isPEM ? PEMText.of(der, label: "PUBLIC KEY") : der
        }
    }
}
