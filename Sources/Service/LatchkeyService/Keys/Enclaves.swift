// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import KeyServices

/// The enclaves that hold the keys of a keychain.
struct Enclaves: Sendable {
    let keychain: OpenKeychain

    /// Returns the enclave for new keys.
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
                    .notAvailable, "the key is in a TPM, but this program cannot use it", hint: "latchkey status")
            }
            return enclave
        case .software:
            guard keychain.hardware.offersSoftwareEnclave else {
                throw KeychainError(
                    .notAvailable, "the key is in a software enclave, and only the system's latchkeyd has one")
            }
            return SoftwareEnclave()
        }
    }
}
