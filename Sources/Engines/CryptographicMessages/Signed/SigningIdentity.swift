// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
public import KeyServices
public import KeychainModel

/// A certificate and its private key. The key signs where it is: in the keychain's service, in a TPM or in memory.
public struct SigningIdentity: Sendable {
    public let certificate: Certificate
    let key: any PrivateKey
    let hash: HashAlgorithm
    let usesPSS: Bool

    /// - Parameters:
    ///   - hash: SHA-256, SHA-384 or SHA-512.
    ///   - usesPSS: RSASSA-PSS instead of PKCS #1 v1.5; has no effect on a key of an elliptic curve.
    /// - Throws: errSecParam for another hash, or if the key is not that of the certificate.
    public init(
        _ certificate: Certificate, _ key: any PrivateKey, hash: HashAlgorithm = .sha256, usesPSS: Bool = false
    ) throws(KeychainError) {
        guard [.sha256, .sha384, .sha512].contains(hash) else {
            throw .parameter("signatures are made with SHA-256, SHA-384 or SHA-512, not with \(hash.displayName)")
        }
        guard PublicKey.inCertificate(certificate)?.external == (try key.publicKey.external) else {
            throw .parameter("the private key does not belong to the certificate")
        }
        self.certificate = certificate
        self.key = key
        self.hash = hash
        self.usesPSS = usesPSS && key.kind.type == .rsa
    }

    /// The algorithm of the key; it hashes the signed attributes.
    private var algorithm: KeyAlgorithm {
        switch (key.kind.type, usesPSS) {
        case (.rsa, false): .rsaSignature(.pkcs1(.message(hash)))
        case (.rsa, true): .rsaSignature(.pss(.message(hash)))
        case (.ellipticCurve, _): .ecdsa(.x962, .message(hash))
        }
    }

    func signature(of attributes: [UInt8]) throws(KeychainError) -> [UInt8] {
        try attributes.withContiguousBytes { (bytes) throws(KeychainError) in try key.signature(of: bytes, algorithm) }
    }

    // MARK: Identifiers

    var digestAlgorithm: [UInt8] { MessageWriter.algorithm(hash.digestIdentifier) }

    var signatureAlgorithm: [UInt8] {
        switch (key.kind.type, usesPSS) {
        case (.rsa, false): MessageWriter.algorithm(.keyRSA, MessageWriter.null)
        case (.rsa, true): MessageWriter.algorithm(.signaturePSS, pssParameters)
        case (.ellipticCurve, _): MessageWriter.algorithm(ecdsaIdentifier)
        }
    }

    private var pssParameters: [UInt8] {
        let hashAlgorithm = MessageWriter.algorithm(hash.digestIdentifier, MessageWriter.null)
        let mask = MessageWriter.algorithm(.maskMGF1, hashAlgorithm)
        return MessageWriter.sequence(
            MessageWriter.explicit(0, hashAlgorithm), MessageWriter.explicit(1, mask),
            MessageWriter.explicit(2, MessageWriter.number(UInt8(truncatingIfNeeded: hash.byteCount))))
    }

    private var ecdsaIdentifier: ObjectIdentifier {
        switch hash {
        case .sha384: .signatureECDSASHA384
        case .sha512: .signatureECDSASHA512
        case .sha1, .sha224, .sha256: .signatureECDSASHA256
        }
    }
}
