// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import FoundationEssentials
internal import KeyAttestation
internal import KeyServices
public import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// Proving to a server that a key is in a TPM, and never leaves it.
///
/// ```swift
/// // The program with the key:                      // The server:
/// let identity = try key.attestationIdentity()       // → let challenge = try verifier.challenge(for: identity)
/// let answer = try key.attestation(                  // ← challenge.message
///     answering: message)                            // → try verifier.verify(answer, to: challenge)
/// ```
extension SecureEnclave.P256.Signing.PrivateKey {
    /// Returns the identity of the TPM: its maker's certificate, and a new attestation key.
    ///
    /// - Throws: `errSecUnimplemented` for a key in a software enclave.
    public func attestationIdentity() throws(KeychainError) -> Data { try handle.key.attestationMessage(Data()) }

    /// Answers the challenge of an ``EnclaveAttestationVerifier``.
    ///
    /// - Throws: `errSecParam` for other bytes; `errSecDecode` for a challenge to another TPM.
    public func attestation(answering challenge: Data) throws(KeychainError) -> Data {
        guard !challenge.isEmpty else { throw .parameter("the challenge is empty") }
        return try handle.key.attestationMessage(challenge)
    }
}

extension KeychainKey {
    /// Returns the identity of the TPM with this key: its maker's certificate, and a new attestation key.
    ///
    /// - Throws: `errSecUnimplemented` for a key that is not in a TPM.
    public func attestationIdentity() throws(KeychainError) -> Data { try handle.key.attestationMessage(Data()) }

    /// Answers the challenge of an ``EnclaveAttestationVerifier``.
    ///
    /// - Throws: `errSecParam` for other bytes; `errSecDecode` for a challenge to another TPM;
    ///   `errSecUnimplemented` for a key that is not in a TPM.
    public func attestation(answering challenge: Data) throws(KeychainError) -> Data {
        guard !challenge.isEmpty else { throw .parameter("the challenge is empty") }
        return try handle.key.attestationMessage(challenge)
    }
}

extension PrivateKey {
    fileprivate func attestationMessage(_ request: Data) throws(KeychainError) -> Data {
        let answer = try Array(request).withContiguousBytes { (bytes) throws(KeychainError) in
            try use(.attest, on: bytes)
        }
        // EXPOSE: messages of an attestation are not secret.
        return answer.withUnsafeBytes { Data($0) }
    }
}

/// Verifies, without a TPM, that a key was made in one and never leaves it.
///
/// The chain of the TPM's certificate is verified with the certificates of the makers that you trust.
public struct EnclaveAttestationVerifier: Sendable {
    private let anchors: [Certificate]
    private let intermediates: [Certificate]

    /// - Parameters:
    ///   - anchors: the makers' certificates, in DER.
    ///   - intermediates: further certificates for chains, in DER.
    /// - Throws: `errSecParam` for bytes that are not a certificate.
    public init(anchors: [Data], intermediates: [Data] = []) throws(KeychainError) {
        self.anchors = try Self.certificates(anchors)
        self.intermediates = try Self.certificates(intermediates)
    }

    /// Verifies the certificate of the TPM, and makes the challenge that it must answer.
    ///
    /// - Parameters:
    ///   - identity: the message of `attestationIdentity()`.
    ///   - certificate: the TPM's certificate in DER, if the TPM itself has none.
    ///   - date: when the certificates must be valid.
    /// - Throws: `errSecParam` for other bytes; `errSecNotTrusted` with the reason.
    public func challenge(
        for identity: Data, certificate: Data? = nil, at date: Date = Date()
    ) throws(KeychainError) -> EnclaveAttestationChallenge {
        try withErrors(as: KeychainError.init) { () throws(AttestationError) in
            EnclaveAttestationChallenge(
                try verifier(date).challenge(
                    for: try AttestationIdentity(decoding: Array(identity)), certificate: certificate.map { Array($0) })
            )
        }
    }

    /// Verifies an answer.
    ///
    /// - Parameters:
    ///   - answer: the message of `attestation(answering:)`.
    ///   - challenge: the challenge that was answered.
    /// - Throws: `errSecParam` for other bytes; `errSecVerifyFailed` with the reason.
    public func verify(
        _ answer: Data, to challenge: EnclaveAttestationChallenge
    ) throws(KeychainError) -> AttestedEnclaveKey {
        try withErrors(as: KeychainError.init) { () throws(AttestationError) in
            AttestedEnclaveKey(
                try verifier(Date()).verify(
                    try AttestationAnswer(decoding: Array(answer)), to: challenge.challenge))
        }
    }

    private func verifier(_ date: Date) -> AttestationVerifier {
        AttestationVerifier(anchors: anchors, intermediates: intermediates, at: date.timeIntervalSince1970)
    }

    private static func certificates(_ list: [Data]) throws(KeychainError) -> [Certificate] {
        var certificates: [Certificate] = []
        for der in list {
            do throws(CertificateError) {
                certificates.append(try Certificate(der: Array(der)))
            } catch {
                throw .parameter("not a certificate: \(error)")
            }
        }
        return certificates
    }
}

extension KeychainError {
    init(_ error: AttestationError) {
        let status: OSStatusCode =
            switch error {
            case .malformed: .param
            case .noCertificate, .untrustedCertificate, .unsupportedKey: .notTrusted
            case .wrongProperties, .wrongAnswer, .wrongSignature: .verifyFailed
            case .failed: .internalFailure
            }
        self.init(status, error.description)
    }
}

/// The challenge that a verifier keeps until it has the answer. It can be used once.
public struct EnclaveAttestationChallenge: Sendable {
    let challenge: AttestationChallenge

    init(_ challenge: AttestationChallenge) { self.challenge = challenge }

    /// The message that the program with the key must answer.
    public var message: Data { Data(challenge.request.encoded) }
}

/// A key that was made in a TPM and never leaves it.
public struct AttestedEnclaveKey: Hashable, Sendable {
    /// The public key on P-256: `04 ‖ X ‖ Y`.
    public let publicKey: Data
    /// The certificate of the TPM's maker, in DER.
    public let endorsementCertificate: Data
    /// How often the TPM was reset when it answered.
    public let resetCount: UInt32
    /// How often the TPM was restarted since.
    public let restartCount: UInt32
    /// The version of the TPM's firmware, as its maker numbers it.
    public let firmware: UInt64
}

extension AttestedEnclaveKey {
    init(_ key: AttestedKey) {
        publicKey = Data(key.publicKey)
        endorsementCertificate = Data(key.endorsementCertificate)
        (resetCount, restartCount, firmware) = (key.resetCount, key.restartCount, key.firmware)
    }
}
