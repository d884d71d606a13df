// SPDX-License-Identifier: Apache-2.0

import HardwareSecurity
import KeychainTesting
import LatchkeyService
import TPMTesting
import TrustedPlatformModule

/// Runs `body` on a new keychain with a Secure Enclave in a TPM of its own.
func withEnclave<Result>(_ backend: Backend, _ body: (TestKeychain) throws -> Result) throws -> Result {
    let tpm = try SoftwareTPM()
    let module = TrustedPlatformModule(tpm.address)
    defer { module.close() }
    let keychain = try TestKeychain(backend, hardware: SecureHardware(module))
    return try keychain.run(groups: ["G1", "G2"]) { try body(keychain) }
}
