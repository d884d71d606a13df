// SPDX-License-Identifier: Apache-2.0

public import KeyServices
public import KeychainModel
public import SecretMemory
public import TrustedPlatformModule

/// A Secure Enclave in a TPM 2.0.
public struct TPMEnclave: SecureEnclave {
    private let module: TrustedPlatformModule

    public init(_ module: TrustedPlatformModule) { self.module = module }

    public var kind: EnclaveKind { .tpm }

    public func createKey(authorization: SharedSecret) throws(KeychainError) -> EnclaveKeyHalves {
        try run { () throws(TPMError) in
            let object = try module.createKey(authorization: authorization)
            return EnclaveKeyHalves(
                publicPoint: try object.publicPoint(), privateHalf: SharedSecret(copying: object.encoded))
        }
    }

    public func signature(
        of digest: [UInt8], with key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> [UInt8] {
        try run { () throws(TPMError) in
            try module.sign(digest, with: try Self.object(key), authorization: authorization)
        }
    }

    public func agreement(
        with point: [UInt8], by key: SharedSecret, authorization: SharedSecret
    ) throws(KeychainError) -> SharedSecret {
        try run { () throws(TPMError) in
            try module.agree(with: point, by: try Self.object(key), authorization: authorization)
        }
    }

    private static func object(_ key: SharedSecret) throws(TPMError) -> TPMObject {
        // EXPOSE: the private area is encrypted by the TPM.
        try TPMObject(decoding: key.withUnsafeBytes { Array($0.prefix(TPMObject.maxLength + 1)) })
    }

    private func run<Result>(_ body: () throws(TPMError) -> Result) throws(KeychainError) -> Result {
        do throws(TPMError) {
            return try body()
        } catch {
            throw KeychainError(error)
        }
    }
}
