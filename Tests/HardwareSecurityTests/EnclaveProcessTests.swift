// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import TPMTesting
import Testing

/// The programs with a TPM.
@Suite("Programs with a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct EnclaveProcessTests {
    /// tpm2-tss would write each command to standard error.
    private static let tracing = ["TSS2_LOG": "all+trace"]

    @Test("latchkeyd and latchkey use a key of the TPM, and tpm2-tss writes nothing with any TSS2_LOG")
    func silent() throws {
        let tpm = try SoftwareTPM(hasTools: true)
        if SoftwareTPM.hasTools {
            // Control: a program that does not turn the messages off.
            #expect(try tpm.run("tpm2_getrandom", ["4", "--hex"], log: "all+trace").output.contains("Esys"))
        }
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

    @Test("Programs that use a TPM at the same time wait for one another", .long)
    func several() throws {
        let tpm = try SoftwareTPM()
        let environment = ["LATCHKEY_TPM": tpm.addressText]
        let daemon = try DaemonProcess(environment: environment)
        let message = "\(daemon.directory.path)/message"
        try "message".write(toFile: message, atomically: false, encoding: .utf8)
        let homes = try (0..<2).map { _ in try TemporaryDirectory() }
        let sign = ["key", "sign", "--tag", "t", message]
        for home in homes {
            let made = try Executable.run(
                "latchkey", ["key", "generate", "--secure-enclave", "--tag", "t"], home: home.path,
                environment: environment)
            #expect(made.status == 0, "\(made.error)")
        }
        #expect(try daemon.client("latchkey", ["key", "generate", "--secure-enclave", "--tag", "t"]).status == 0)
        // Two processes of each of three keychains, one of them in latchkeyd.
        let processes = (0..<6).map { number in
            number < 4
                ? Executable.process("latchkey", sign, home: homes[number / 2].path, environment: environment)
                : Executable.process("latchkey", sign, home: daemon.home, environment: daemon.environment)
        }
        for process in processes {
            process.standardOutput = FileHandle.nullDevice
            try process.start()
        }
        for process in processes {
            #expect(process.awaitExit() == 0)
        }
        daemon.stop()
    }

    @Test("No command writes the private key", .long, arguments: [false, true])
    func export(_ hasDaemon: Bool) throws {
        let tpm = try SoftwareTPM()
        let environment = ["LATCHKEY_TPM": tpm.addressText]
        let daemon = hasDaemon ? try DaemonProcess(environment: environment) : nil
        defer { daemon?.stop() }
        let directory = try TemporaryDirectory()
        let security = "\(directory.path)/security"
        try FileManager.default.createSymbolicLink(atPath: security, withDestinationPath: Executable.path("latchkey"))
        func run(_ name: String, _ arguments: [String]) throws -> Executable.Outcome {
            if let daemon { return try daemon.client(name, arguments) }
            return try Executable.run(name, arguments, home: "\(directory.path)/home", environment: environment)
        }
        #expect(try run("latchkey", ["key", "generate", "--secure-enclave", "--tag", "t"]).status == 0)
        #expect(try run("latchkey", ["key", "public", "--tag", "t"]).output.contains("PUBLIC KEY"))
        for type in ["privKeys", "allKeys", "identities", "all"] {
            for format in ["pemseq", "openssl", "pkcs8", "openssh2", "bsafe", "pkcs12"] {
                let file = "\(directory.path)/\(type).\(format)"
                let outcome = try run(
                    security, ["export", "-t", type, "-f", format, "-P", "Kestrel-57 over the pier", "-o", file])
                let written = FileManager.default.contents(atPath: file) ?? Data()
                #expect(!String(decoding: written, as: UTF8.self).contains("PRIVATE KEY"), "\(type) \(format)")
                #expect(!outcome.output.contains("PRIVATE KEY"), "\(type) \(format)")
                // The public half has 91 bytes in DER.
                #expect(outcome.status != 0 || written.count < 200, "\(type) \(format): \(written.count) bytes")
            }
        }
        #expect(try run(security, ["dump-keychain", "-d"]).output.contains("PRIVATE KEY") == false)
        let message = "\(directory.path)/message"
        try "message".write(toFile: message, atomically: false, encoding: .utf8)
        let signed = try run("latchkey", ["key", "sign", "--tag", "t", "--output", "\(message).signature", message])
        #expect(signed.status == 0)
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
