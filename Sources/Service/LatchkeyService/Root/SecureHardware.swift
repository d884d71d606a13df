// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeyServices

/// The hardware that holds keys outside of the memory of the process that opens a keychain.
public struct SecureHardware: Sendable {
    /// The hardware that holds the root of keychains; nil if there is nothing, or the program cannot use it.
    public var root: (any HardwareRoot)?
    /// The sealer that encrypts credentials of systemd; nil if the program cannot do that. A credential that the
    /// process has received is opened without it.
    public var credentials: (any DeviceKeySealer)?
    /// A Secure Enclave in hardware; nil if the machine has none, or the program cannot use it.
    public var enclave: (any SecureEnclave)?
    /// Whether the owner of a keychain may allow keys in the memory of this process in place of a
    /// Secure Enclave: only where other programs of the user cannot read that memory.
    public var offersSoftwareEnclave: Bool

    public init(
        root: (any HardwareRoot)? = nil, credentials: (any DeviceKeySealer)? = nil,
        enclave: (any SecureEnclave)? = nil, offersSoftwareEnclave: Bool = false
    ) {
        (self.root, self.credentials, self.enclave) = (root, credentials, enclave)
        self.offersSoftwareEnclave = offersSoftwareEnclave
    }

    /// The sealer that opens a device key in a credential.
    var credentialSealer: any DeviceKeySealer { credentials ?? ReceivedCredential() }
}
