// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Keybag
public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// The device key as a credential that systemd has decrypted for this process (systemd.exec(5),
/// LoadCredentialEncrypted=).
public struct ReceivedCredential: DeviceKeySealer {
    /// The name of the credential.
    public static let name = "latchkey.device-key"

    public init() {}

    public func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        throw KeychainError(
            .notAvailable, "this program cannot encrypt credentials of systemd", hint: "latchkey root credential")
    }

    public func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
        guard let key = try deviceKey() else {
            throw KeychainError(
                .notAvailable, "the device key is in a credential of systemd, but this process has not received it",
                hint: "add to the service's unit: LoadCredentialEncrypted=\(Self.name):…/state/device.credential")
        }
        return key
    }

    /// The device key; nil if the process has not received it.
    ///
    /// - Throws: errSecDecode if it does not have the length of one.
    public func deviceKey() throws(KeychainError) -> SharedSecret? {
        guard let directory = SecureEnvironment.path(of: "CREDENTIALS_DIRECTORY") else { return nil }
        let path: FilePath = "\(directory)/\(Self.name)"
        guard path.withCString({ access($0, F_OK) }) == 0 else { return nil }
        var count = 0
        let buffer: SecretBytes
        do throws(SystemError) {
            // systemd protects its credentials from other users by means that the file mode does not
            // show.
            buffer = try SecretBytes(count: DeviceKey.length + 1) { (buffer) throws(SystemError) in
                count = try PrivateFile.fill(buffer, from: path, isPrivate: false)
            }
        } catch {
            throw KeychainError(error)
        }
        guard count == DeviceKey.length else {
            throw KeychainError(
                .decode, "the credential \(Self.name) has another length than \(DeviceKey.length) bytes")
        }
        return SharedSecret(
            buffer.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) })
    }
}
