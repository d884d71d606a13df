// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// An interface to seal the device key so that only this machine opens it.
public protocol DeviceKeySealer: Sendable {
    /// - Returns: bytes that are no secret.
    /// - Throws: errSecNotAvailable if the hardware is not there.
    func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8]

    /// - Throws: errSecDecode if other hardware has sealed the key, or the bytes are damaged;
    ///   errSecNotAvailable.
    func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret
}
