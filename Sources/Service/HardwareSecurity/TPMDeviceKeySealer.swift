// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
public import SecretMemory
public import TrustedPlatformModule

/// Seals device keys in a TPM 2.0. Format: Documentation/Formats/keychain-database.md, "Device key
/// in a TPM".
public struct TPMDeviceKeySealer: DeviceKeySealer {
    private let module: TrustedPlatformModule

    private static let version: UInt8 = 1
    private static let authorizationLength = 32

    public init(_ module: TrustedPlatformModule) { self.module = module }

    public func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        // It only keeps other objects of the TPM from being taken for this one; the file has it.
        let authorization = SharedSecret(.random(count: Self.authorizationLength))
        do throws(TPMError) {
            let object = try module.seal(key, authorization: authorization)
            // EXPOSE: stored beside the object, in a private file.
            return [Self.version] + authorization.withUnsafeBytes { Array($0) } + object.encoded
        } catch {
            throw KeychainError(error)
        }
    }

    public func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
        guard sealed.first == Self.version, sealed.count > 1 + Self.authorizationLength else {
            throw KeychainError(.decode, "the sealed device key is damaged, or of an unsupported version")
        }
        let rest = sealed.dropFirst()
        do throws(TPMError) {
            let object = try TPMObject(decoding: Array(rest.dropFirst(Self.authorizationLength)))
            return try module.unseal(
                object, authorization: SharedSecret(copying: rest.prefix(Self.authorizationLength)))
        } catch {
            throw KeychainError(error)
        }
    }
}
