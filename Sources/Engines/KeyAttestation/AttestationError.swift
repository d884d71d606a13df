// SPDX-License-Identifier: Apache-2.0

/// Why an attestation is not accepted.
public enum AttestationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not a message of this format; the text names the problem.
    case malformed(String)
    /// The TPM has no certificate of its maker, and none was given.
    case noCertificate
    /// The certificate of the endorsement key is not trusted; the text says why.
    case untrustedCertificate(String)
    /// The key of the certificate is not one that this version supports.
    case unsupportedKey(String)
    /// A key has other properties than one that cannot leave its TPM; the text names them.
    case wrongProperties(String)
    /// The answer belongs to another challenge; the text names the difference.
    case wrongAnswer(String)
    /// The signature of the statement is not that of the attestation key.
    case wrongSignature
    /// A cryptographic function failed.
    case failed(String)

    public var description: String {
        switch self {
        case .malformed(let reason): "it is not an attestation message: \(reason)"
        case .noCertificate: "the TPM has no certificate of its maker"
        case .untrustedCertificate(let reason): "the certificate of the TPM is not trusted: \(reason)"
        case .unsupportedKey(let reason): "the key of the TPM's certificate is not supported: \(reason)"
        case .wrongProperties(let reason): "the key can leave its TPM, or was made outside of it: \(reason)"
        case .wrongAnswer(let reason): "the answer does not belong to the challenge: \(reason)"
        case .wrongSignature: "the statement was not signed by the attestation key"
        case .failed(let reason): reason
        }
    }
}
