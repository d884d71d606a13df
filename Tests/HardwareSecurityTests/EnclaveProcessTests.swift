// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import TPMTesting
import Testing

/// The programs with a TPM.
@Suite("Programs with a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct EnclaveProcessTests {
    /// tpm2-tss would write each command to standard error.
    private static let tracing = ["TSS2_LOG": "all+trace"]

    @Test("latchkeyd and latchkey use a key of the TPM, and tpm2-tss writes nothing, whatever TSS2_LOG says")
    func silent() throws {
        let tpm = try SoftwareTPM()
        let environment = Self.tracing.merging(["LATCHKEY_TPM": tpm.addressText]) { $1 }
        let daemon = try DaemonProcess(environment: environment)
        let made = try daemon.client("latchkey", ["key", "generate", "--secure-enclave", "--tag", "daemon"])
        #expect(made.status == 0, "\(made.error)")
        #expect(try daemon.client("latchkey", ["key", "list"]).output.contains("Secure Enclave (tpm)"))
        daemon.stop()
        #expect(!daemon.logText.contains("Esys"), "\(daemon.logText.prefix(300))")
        let home = try TemporaryDirectory()
        let own = try Executable.run(
            "latchkey", ["key", "generate", "--secure-enclave", "--tag", "own"], home: home.path,
            environment: environment)
        #expect(own.status == 0)
        #expect(own.error == "latchkey: the key P-256 was generated in the Secure Enclave (tpm)\n")
    }

    @Test("An invalid address ends both programs with a message that quotes it")
    func invalidAddress() throws {
        let home = try TemporaryDirectory()
        let outcome = try Executable.run(
            "latchkey", ["status"], home: home.path, environment: ["LATCHKEY_TPM": "bogus"])
        #expect(outcome.status != 0 && outcome.error.contains("bogus is not the address of a TPM"))
        let daemon = try DaemonProcess(environment: ["LATCHKEY_TPM": "bogus"], waits: false)
        #expect(eventually { daemon.logText.contains("bogus is not the address of a TPM") })
        daemon.stop()
    }
}
