// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A private key in a Secure Enclave.
public struct EnclaveKey: PrivateKey {
    private let record: EnclaveKeyRecord
    private let enclave: any SecureEnclave

    public static let kind = KeyKind(.ellipticCurve, bits: 256)
    /// The longest message of an attestation.
    public static let maxRequestLength = 4096

    /// - Throws: errSecNotAvailable if the enclave is of another kind than the one that created the
    ///   key.
    public init(_ record: EnclaveKeyRecord, in enclave: any SecureEnclave) throws(KeychainError) {
        guard record.kind == enclave.kind else {
            throw KeychainError(
                .notAvailable, "the key is in a \(record.kind.name), and this keychain has a \(enclave.kind.name)")
        }
        (self.record, self.enclave) = (record, enclave)
    }

    public var kind: KeyKind { Self.kind }
    public var publicKey: PublicKey { get throws(KeychainError) { try record.publicKey } }

    public func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        switch use {
        case .signECDSA:
            let numbers = try enclave.signature(
                of: Self.number(input), with: record.privateHalf, authorization: record.authorization)
            let der = numbers.withUnsafeBytes { ECDSASignature.x962($0, of: kind) }
            guard let der else {
                throw KeychainError(.internalFailure, "the signature of the enclave has \(numbers.count) bytes")
            }
            return SharedSecret(copying: der)
        case .agree, .agreeToDecrypt:
            let point = Array(input)
            guard point.count == EnclaveKeyRecord.pointLength, point[0] == 4 else {
                throw .parameter("the other key is not a public key of the same curve")
            }
            return try enclave.agreement(with: point, by: record.privateHalf, authorization: record.authorization)
        case .attest:
            guard input.count <= Self.maxRequestLength else {
                throw .parameter("the challenge of an attestation is too long")
            }
            return SharedSecret(
                copying: try enclave.attestation(
                    of: record.privateHalf, authorization: record.authorization, request: Array(input)))
        case .signRaw, .signPKCS1, .signPSS, .decryptRaw, .decryptPKCS1, .decryptOAEP:
            throw .parameter("a key of a Secure Enclave does not support this operation")
        }
    }

    /// Returns the leftmost 256 bits of a digest. ECDSA signs them as a number (FIPS 186-5, section 6.4.1).
    private static func number(_ digest: UnsafeRawBufferPointer) -> [UInt8] {
        let bytes = Array(digest.prefix(32))
        return [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
    }
}

extension EnclaveKeyRecord {
    /// The public half.
    public var publicKey: PublicKey {
        get throws(KeychainError) {
            try publicPoint.withContiguousBytes { (bytes) throws(KeychainError) in
                try PublicKey(imported: bytes, type: .ellipticCurve)
            }
        }
    }
}

extension EnclaveKind {
    /// For messages.
    public var name: String {
        switch self {
        case .tpm: "TPM"
        case .software: "software enclave"
        }
    }
}
