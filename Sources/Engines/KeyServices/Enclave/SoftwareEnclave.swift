// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// A Secure Enclave without hardware: the keys are in the memory of the process that uses them, and
/// in its database. It keeps them from other processes, not from the administrator.
public struct SoftwareEnclave: SecureEnclave {
    public init() {}

    public var kind: EnclaveKind { .software }

    public func createKey(authorization: SharedSecret) throws(KeychainError) -> EnclaveKeyHalves {
        let key = try SoftwareKey.generate(EnclaveKey.kind)
        // EXPOSE: X9.63, 04 ‖ X ‖ Y ‖ K, as the private half. The service keeps it.
        return EnclaveKeyHalves(publicPoint: key.publicKey.external, privateHalf: try key.external())
    }

    public func signature(
        of digest: [UInt8], with key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> [UInt8] {
        let key = try Self.key(key)
        let der = try digest.withContiguousBytes { (digest) throws(KeychainError) in try key.use(.signECDSA, on: digest)
        }
        return try ECDSASignature.rfc4754(der.withUnsafeBytes { Array($0) }, of: EnclaveKey.kind)
    }

    public func agreement(
        with point: [UInt8], by key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> SharedSecret {
        let key = try Self.key(key)
        return try point.withContiguousBytes { (point) throws(KeychainError) in try key.use(.agree, on: point) }
    }

    public func attestation(
        of key: SharedSecret, authorization: SharedSecret, request: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        throw KeychainError(.unimplemented, "a software enclave cannot prove where its keys are")
    }

    private static func key(_ bytes: SharedSecret) throws(KeychainError) -> SoftwareKey {
        try bytes.withUnsafeBytes { (bytes) throws(KeychainError) in
            try SoftwareKey(external: bytes, type: .ellipticCurve, isTrusted: true)
        }
    }
}
