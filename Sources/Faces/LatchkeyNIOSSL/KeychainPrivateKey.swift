// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import LatchkeyClient
internal import LatchkeySecurity
internal import NIOCore
internal import NIOSSL

/// A private key for NIOSSL that signs by a call of the keychain's service, not on the event loop.
struct KeychainPrivateKey: NIOSSLCustomPrivateKey {
    let signatureAlgorithms: [SignatureAlgorithm]
    private let key: SecKey
    private let signature: @Sendable (Request) -> Result<ByteBuffer, any Error>

    private struct Request: Sendable {
        let algorithm: SecKeyAlgorithm
        let message: ByteBuffer
    }

    /// - Parameter certificate: the certificate of the key; it has the key's kind.
    /// - Throws: if the key cannot sign for TLS.
    init(_ key: SecKey, of certificate: Certificate) throws(TLSRefusal) {
        let publicKey = certificate.publicKey
        let candidates: [SignatureAlgorithm] =
            switch publicKey.bits {
            case let bits? where publicKey.kind == .rsa && bits >= 2048:
                [
                    .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512, .rsaPkcs1Sha256, .rsaPkcs1Sha384,
                    .rsaPkcs1Sha512,
                ]
            case 256 where publicKey.isOn(bits: 256): [.ecdsaSecp256R1Sha256]
            case 384 where publicKey.isOn(bits: 384): [.ecdsaSecp384R1Sha384]
            case 521 where publicKey.isOn(bits: 521): [.ecdsaSecp521R1Sha512]
            default: []
            }
        signatureAlgorithms = candidates.filter { algorithm in
            algorithm.ofSecurity.map { SecKeyIsAlgorithmSupported(key, .sign, $0) } ?? false
        }
        self.key = key
        signature = KeychainClient.boundFunction { request in Result { try Self.signature(request, key) } }
        guard !signatureAlgorithms.isEmpty else {
            throw .identity(
                "the key of \(certificate.subjectSummary ?? "the certificate") must be RSA of at least 2048 bits, or on "
                    + "the curve P-256, P-384 or P-521, and a private key")
        }
    }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        guard let name = algorithm.ofSecurity, signatureAlgorithms.contains(algorithm) else {
            return channel.eventLoop.makeFailedFuture(TLSRefusal.identity("the key does not sign with \(algorithm)"))
        }
        let request = Request(algorithm: name, message: data)
        return BlockingWork.run(on: channel.eventLoop) { signature(request) }
    }

    private static func signature(_ request: Request, _ key: SecKey) throws(TLSRefusal) -> ByteBuffer {
        var error: Unmanaged<CFError>?
        let message = Data(request.message.readableBytesView) as CFData
        guard let signature = SecKeyCreateSignature(key, request.algorithm, message, &error) else {
            let reason = error?.takeRetainedValue().localizedDescription ?? "no reason is known"
            throw .identity("the private key made no signature: \(reason)")
        }
        return ByteBuffer(bytes: Data(referencing: signature))
    }

    /// The exchange of keys by RSA has no forward secrecy, so it is not supported.
    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(TLSRefusal.identity("RSA key exchange is refused"))
    }
}

// MARK: Hashable

extension KeychainPrivateKey: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.key == right.key }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension SignatureAlgorithm {
    /// The algorithm of Security for the message; nil if it is not used here.
    fileprivate var ofSecurity: SecKeyAlgorithm? {
        switch self {
        case .ecdsaSecp256R1Sha256: .ecdsaSignatureMessageX962SHA256
        case .ecdsaSecp384R1Sha384: .ecdsaSignatureMessageX962SHA384
        case .ecdsaSecp521R1Sha512: .ecdsaSignatureMessageX962SHA512
        case .rsaPssRsaeSha256: .rsaSignatureMessagePSSSHA256
        case .rsaPssRsaeSha384: .rsaSignatureMessagePSSSHA384
        case .rsaPssRsaeSha512: .rsaSignatureMessagePSSSHA512
        case .rsaPkcs1Sha256: .rsaSignatureMessagePKCS1v15SHA256
        case .rsaPkcs1Sha384: .rsaSignatureMessagePKCS1v15SHA384
        case .rsaPkcs1Sha512: .rsaSignatureMessagePKCS1v15SHA512
        default: nil
        }
    }
}
