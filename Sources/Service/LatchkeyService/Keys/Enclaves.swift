// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import KeyServices

/// The enclaves whose keys a keychain has.
struct Enclaves: Sendable {
    let keychain: OpenKeychain

    /// The enclave in which new keys are created.
    ///
    /// - Throws: errSecUnimplemented if there is none, as on a device without a Secure Enclave.
    func forNewKeys() throws(KeychainError) -> any SecureEnclave {
        if let enclave = keychain.hardware.enclave { return enclave }
        guard keychain.store.settings.allowsSoftwareEnclave else { throw KeyRules.noEnclave }
        return try enclave(.software)
    }

    /// The enclave that holds a key.
    ///
    /// - Throws: errSecNotAvailable if it is not there.
    func enclave(_ kind: EnclaveKind) throws(KeychainError) -> any SecureEnclave {
        switch kind {
        case .tpm:
            guard let enclave = keychain.hardware.enclave else {
                throw KeychainError(
                    .notAvailable, "the key is in a TPM, which this program cannot use", hint: "latchkey status")
            }
            return enclave
        case .software:
            guard keychain.hardware.offersSoftwareEnclave else {
                throw KeychainError(
                    .notAvailable, "the key is in a software enclave, which only the system's latchkeyd has")
            }
            return SoftwareEnclave()
        }
    }
}
