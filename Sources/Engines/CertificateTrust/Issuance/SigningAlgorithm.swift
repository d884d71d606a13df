// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import KeychainModel

/// A signature algorithm for new certificates: the operation of the key, and the identifier.
public struct SigningAlgorithm: Hashable, Sendable {
    /// The operation of the key; it hashes the message.
    public let operation: KeyAlgorithm
    /// `AlgorithmIdentifier`.
    let der: [UInt8]

    /// The algorithm for a key of a CA or of a certificate; nil if the key cannot sign certificates:
    /// RSA of at least 2048 bits, P-256, P-384 and P-521 can.
    public init?(of key: SubjectPublicKeyInfo) {
        switch (key.kind, key.bits) {
        case (.rsa, let bits?) where bits >= 2048:
            self.init(.rsaSignature(.pkcs1(.message(.sha256))), .sha256WithRSA, DERElement.of(0x05, []))
        case (.ellipticCurve, 256): self.init(.ecdsa(.x962, .message(.sha256)), .ecdsaWithSHA256)
        case (.ellipticCurve, 384): self.init(.ecdsa(.x962, .message(.sha384)), .ecdsaWithSHA384)
        case (.ellipticCurve, 521): self.init(.ecdsa(.x962, .message(.sha512)), .ecdsaWithSHA512)
        default: return nil
        }
    }

    private init(_ operation: KeyAlgorithm, _ identifier: ObjectIdentifier, _ parameters: [UInt8] = []) {
        self.operation = operation
        der = DERElement.of(0x30, DERElement.of(0x06, identifier.content) + parameters)
    }
}

extension Certificate {
    /// The subject key identifier of a key: the SHA-1 of its bits (RFC 5280, section 4.2.1.2).
    static func keyIdentifier(of key: [UInt8]) -> [UInt8] { Array(Insecure.SHA1.hash(data: key)) }
}
