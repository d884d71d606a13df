// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// Verifies that a key was made in a TPM and never leaves it, from the certificate of the TPM's maker
/// on. It needs no TPM.
///
/// The maker's certificate names the endorsement key. A secret that is encrypted for that key and for the name of an
/// attestation key shows that both are in one TPM; the attestation key signs only statements of this TPM; and the
/// statement names the key, its attributes, and the verifier's nonce.
public struct AttestationVerifier: Sendable {
    /// The certificates of the makers' authorities.
    public var anchors: [Certificate]
    /// Further certificates for chains.
    public var intermediates: [Certificate]
    /// Seconds since 1970.
    public var time: Double

    public init(anchors: [Certificate], intermediates: [Certificate] = [], at time: Double) {
        (self.anchors, self.intermediates, self.time) = (anchors, intermediates, time)
    }

    /// Verifies the certificate of a TPM, and makes the challenge that it must answer.
    ///
    /// - Parameter certificate: the endorsement certificate in DER, if the TPM itself has none.
    /// - Throws: ``AttestationError``.
    public func challenge(
        for identity: AttestationIdentity, certificate: [UInt8]? = nil
    ) throws(AttestationError) -> AttestationChallenge {
        let endorsement = try trusted(identity, certificate)
        let signer = try PublicArea(decoding: identity.attestationKey)
        guard signer.attributes.isSuperset(of: [.stays, .restricted, .sign]),
            signer.attributes.isDisjoint(with: .decrypt)
        else { throw .wrongProperties("the attestation key signs data that its TPM has not made") }
        let secret = SharedSecret(.random(count: AttestationAnswer.secretLength))
        let maker = CredentialMaker(endorsementKey: try Self.endorsementKey(endorsement))
        let (credential, seed) = try maker.credential(secret, for: signer.name)
        // EXPOSE: a nonce is not secret.
        let nonce = SecretBytes.random(count: AttestationRequest.nonceLength).withUnsafeBytes { Array($0) }
        let request = AttestationRequest(
            nonce: nonce, attestationObject: identity.attestationObject, credential: credential, seed: seed)
        return AttestationChallenge(
            request: request, secret: secret, signer: signer, signerArea: identity.attestationKey,
            endorsement: endorsement)
    }

    /// Verifies an answer.
    ///
    /// - Throws: ``AttestationError``.
    public func verify(
        _ answer: AttestationAnswer, to challenge: AttestationChallenge
    ) throws(AttestationError) -> AttestedKey {
        guard SharedSecret(copying: answer.secret) == challenge.secret else {
            throw .wrongAnswer("the secret is not the one of the credential")
        }
        let digest = try Digest.sha256(answer.statement)
        guard Self.isSignature(answer.signature, of: digest, by: challenge.signer.point) else { throw .wrongSignature }
        let statement = try CertifiedKey(decoding: answer.statement)
        guard statement.nonce == challenge.request.nonce else { throw .wrongAnswer("the nonce is another one") }
        let key = try PublicArea(decoding: answer.key)
        guard statement.name == key.name else { throw .wrongAnswer("the statement is about another key") }
        guard key.attributes.isSuperset(of: .stays) else {
            throw .wrongProperties("attributes \(key.attributes.rawValue)")
        }
        guard key.attributes.contains(.sign), key.attributes.isDisjoint(with: .restricted) else {
            throw .wrongProperties("it is not a key that signs for its owner")
        }
        return AttestedKey(
            publicKey: key.point, endorsementCertificate: challenge.endorsement.der,
            resetCount: statement.resetCount, restartCount: statement.restartCount, firmware: statement.firmware)
    }

    // MARK: Steps

    /// The trusted certificate of the endorsement key.
    private func trusted(
        _ identity: AttestationIdentity, _ given: [UInt8]?
    ) throws(AttestationError) -> Certificate {
        var presented: [Certificate] = []
        for der in (given.map { [$0] } ?? []) + identity.certificates {
            do throws(CertificateError) {
                presented.append(try Certificate(der: der))
            } catch {
                throw .untrustedCertificate("\(error)")
            }
        }
        guard let leaf = presented.first else { throw .noCertificate }
        if let usages = leaf.extensions.extendedKeyUsages, !usages.contains(.endorsementKeyUsage) {
            throw .untrustedCertificate("it is not a certificate of an endorsement key")
        }
        var evaluation = TrustEvaluation(presented + intermediates, policies: [], at: time)
        (evaluation.anchors, evaluation.isAnchorsOnly) = (anchors, true)
        let verdict = evaluation.verdict()
        guard verdict.isTrusted else {
            throw .untrustedCertificate(verdict.failure.map { "\($0)" } ?? "no chain to an anchor")
        }
        return leaf
    }

    private static func endorsementKey(_ certificate: Certificate) throws(AttestationError) -> PublicKey {
        guard certificate.publicKey.kind == .rsa else { throw .unsupportedKey("it is not an RSA key") }
        do throws(KeychainError) {
            let key = try Array(certificate.publicKey.key).withContiguousBytes { (bytes) throws(KeychainError) in
                try PublicKey(external: bytes, type: .rsa)
            }
            guard key.kind.bits >= 2048 else { throw KeychainError.parameter("it has \(key.kind.bits) bits") }
            return key
        } catch {
            throw .unsupportedKey("\(error)")
        }
    }

    private static func isSignature(_ numbers: [UInt8], of digest: [UInt8], by point: [UInt8]) -> Bool {
        do throws(KeychainError) {
            let key = try point.withContiguousBytes { (bytes) throws(KeychainError) in
                try PublicKey(external: bytes, type: .ellipticCurve)
            }
            return try digest.withContiguousBytes { (digest) throws(KeychainError) in
                try numbers.withContiguousBytes { (numbers) throws(KeychainError) in
                    try key.isSignature(numbers, of: digest, .ecdsa(.rfc4754, .digest(.sha256)))
                }
            }
        } catch {
            return false
        }
    }
}

/// The state of a verifier until the answer: the secret must not leave the verifier.
public struct AttestationChallenge: Sendable {
    /// The request that the TPM must answer.
    public let request: AttestationRequest
    let secret: SharedSecret
    let signer: PublicArea
    /// The bytes of ``signer``.
    let signerArea: [UInt8]
    let endorsement: Certificate

    init(
        request: AttestationRequest, secret: SharedSecret, signer: PublicArea, signerArea: [UInt8],
        endorsement: Certificate
    ) {
        (self.request, self.secret, self.signer) = (request, secret, signer)
        (self.signerArea, self.endorsement) = (signerArea, endorsement)
    }
}

extension AttestationChallenge {
    static let magic: [UInt8] = Array("LKAS".utf8) + [1]

    /// The bytes for ``init(decoding:)``, for a verifier that waits in another process. They contain the secret.
    public var encoded: SharedSecret {
        var writer = MessageWriter(Self.magic)
        writer.put(field: request.encoded)
        writer.put(field: endorsement.der)
        writer.put(field: signerArea)
        return SharedSecret(joining: [SharedSecret(copying: writer.bytes), secret])
    }

    /// - Throws: ``AttestationError/malformed(_:)``.
    public init(decoding stored: SharedSecret) throws(AttestationError) {
        let headLength = stored.count - AttestationAnswer.secretLength
        guard headLength > 0 else { throw .malformed("it is not a challenge that waits for its answer") }
        // EXPOSE: the bytes before the secret are not secret.
        let head = stored.withUnsafeBytes { Array($0.prefix(headLength)) }
        var reader = MessageReader(head, "challenge that waits for its answer")
        guard try reader.bytes(Self.magic.count) == Self.magic else {
            throw .malformed("it is not a challenge that waits for its answer")
        }
        request = try AttestationRequest(decoding: try reader.field("challenge", counts: 1...8192))
        let der = try reader.field("certificate", counts: 1...AttestationIdentity.maxCertificate)
        do throws(CertificateError) {
            endorsement = try Certificate(der: der)
        } catch {
            throw .malformed("its certificate: \(error)")
        }
        signerArea = try reader.field("public area", counts: 1...AttestationIdentity.maxArea)
        signer = try PublicArea(decoding: signerArea)
        try reader.requireEnd()
        secret = stored.withUnsafeBytes { bytes in
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(headLength))))
        }
    }
}

/// A key that was made in a TPM and never leaves it.
public struct AttestedKey: Hashable, Sendable {
    /// The key on P-256: `04 ‖ X ‖ Y`.
    public let publicKey: [UInt8]
    /// The certificate of the TPM's maker, in DER.
    public let endorsementCertificate: [UInt8]
    /// How often the TPM was reset, and restarted, when it stated that.
    public let resetCount: UInt32
    public let restartCount: UInt32
    /// The version of the TPM's firmware, as its maker numbers it.
    public let firmware: UInt64
}
