// SPDX-License-Identifier: Apache-2.0

internal import KeyAttestation
public import KeyServices
public import KeychainModel
internal import LinuxSystem
public import SecretMemory
public import TrustedPlatformModule

/// A Secure Enclave in a TPM 2.0.
public struct TPMEnclave: SecureEnclave {
    private let module: TrustedPlatformModule

    public init(_ module: TrustedPlatformModule) { self.module = module }

    public var kind: EnclaveKind { .tpm }

    public func createKey(authorization: SharedSecret) throws(KeychainError) -> EnclaveKeyHalves {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let object = try module.createKey(authorization: authorization)
            return EnclaveKeyHalves(
                publicPoint: try object.publicPoint(), privateHalf: SharedSecret(copying: object.encoded))
        }
    }

    public func signature(
        of digest: [UInt8], with key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> [UInt8] {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            try module.sign(digest, with: try Self.object(key), authorization: authorization)
        }
    }

    public func agreement(
        with point: [UInt8], by key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> SharedSecret {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            try module.agree(with: point, by: try Self.object(key), authorization: authorization)
        }
    }

    public func attestation(
        of key: SharedSecret, authorization: SharedSecret, request: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        if request.isEmpty { return try identity().encoded }
        let challenge: AttestationRequest
        do throws(AttestationError) {
            challenge = try AttestationRequest(decoding: request)
        } catch {
            throw .parameter("\(error)")
        }
        return try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let object = try Self.object(key)
            let signer = try TPMObject(decoding: challenge.attestationObject)
            let secret = try module.activate(challenge.credential, seed: challenge.seed, for: signer)
            let certified = try module.certify(
                object, authorization: authorization, by: signer, nonce: challenge.nonce)
            // EXPOSE: the secret is the verifier's, and shows that this TPM has opened it.
            return AttestationAnswer(
                key: object.publicTemplate, statement: certified.statement, signature: certified.signature,
                secret: secret.withUnsafeBytes { Array($0) }
            ).encoded
        }
    }

    private func identity() throws(KeychainError) -> AttestationIdentity {
        try withErrors(as: KeychainError.init) { () throws(TPMError) in
            let certificate = try module.endorsementCertificate()
            let key = try module.createAttestationKey()
            return AttestationIdentity(
                certificates: certificate.map { [$0] } ?? [], attestationObject: key.encoded,
                attestationKey: key.publicTemplate)
        }
    }

    private static func object(_ key: SharedSecret) throws(TPMError) -> TPMObject {
        // EXPOSE: the private area is encrypted by the TPM.
        try TPMObject(decoding: key.withUnsafeBytes { Array($0.prefix(TPMObject.maxLength + 1)) })
    }
}
