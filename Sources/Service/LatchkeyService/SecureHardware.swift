// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel
internal import KeychainStore
public import KeyServices

/// What holds keys outside of the memory of the process that opens a keychain.
public struct SecureHardware: Sendable {
    /// What holds the root of keychains; nil if there is nothing, or the program cannot use it.
    public var root: (any HardwareRoot)?
    /// What encrypts credentials of systemd; nil if the program cannot do that. A credential that the
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

    /// What opens a device key in a credential.
    var credentialSealer: any DeviceKeySealer { credentials ?? ReceivedCredential() }
}

extension EmbeddedService {
    /// The enclave in which new keys are created.
    ///
    /// - Throws: errSecUnimplemented if there is none, as on a device without a Secure Enclave.
    func enclaveForNewKeys() throws(KeychainError) -> any SecureEnclave {
        if let enclave = hardware.enclave { return enclave }
        guard store.settings.allowsSoftwareEnclave else { throw KeyRules.noEnclave }
        return try enclave(.software)
    }

    /// The enclave that holds a key.
    ///
    /// - Throws: errSecNotAvailable if it is not there.
    func enclave(_ kind: EnclaveKind) throws(KeychainError) -> any SecureEnclave {
        switch kind {
        case .tpm:
            guard let enclave = hardware.enclave else {
                throw KeychainError(
                    .notAvailable, "the key is in a TPM, which this program cannot use", hint: "latchkey status")
            }
            return enclave
        case .software:
            guard hardware.offersSoftwareEnclave else {
                throw KeychainError(
                    .notAvailable, "the key is in a software enclave, which only the system's latchkeyd has")
            }
            return SoftwareEnclave()
        }
    }
}
