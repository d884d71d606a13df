// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HardwareSecurity
import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The device key as a credential of systemd.
@Suite("A root in a credential")
struct CredentialRootTests {
    /// systemd-creds takes the machine's secret only from a file of root.
    private static let canEncrypt = access("/usr/bin/systemd-creds", X_OK) == 0 && geteuid() == 0

    private func sealer(_ machine: TemporaryDirectory) -> CredentialSealer {
        CredentialSealer(environment: ["SYSTEMD_CREDENTIAL_SECRET=\(machine.path)/secret"])
    }

    private func add(_ account: String) throws {
        _ = try KeychainClient.session().add(
            ItemAddition(
                .genericPassword, attributes: [.service: .string("s"), .account: .string(account)],
                secrets: ItemSecrets(data: SharedSecret(copying: account.utf8)), protection: .always))
    }

    private func read(_ account: String) throws -> String? {
        let found = try KeychainClient.session().copyMatching(
            ItemQuery(.genericPassword, attributes: [.account: .string(account)]), returning: .data)
        return found.records.first?.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func files(_ directory: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/state"))
    }

    @Test(
        "The device key moves to a credential and back; on another machine it opens nothing",
        .enabled(if: canEncrypt))
    func move() throws {
        let machine = try TemporaryDirectory()
        let hardware = SecureHardware(credentials: sealer(machine))
        let keychain = try TestKeychain(.onDisk, hardware: hardware)
        let directory = try #require(keychain.directory)
        try keychain.run(groups: ["G1"]) {
            try add("item")
            #expect(try KeychainClient.session().moveRoot(to: .credential, nil, dryRun: true))
            #expect(try KeychainClient.session().moveRoot(to: .credential, nil, dryRun: false))
            #expect(try !KeychainClient.session().moveRoot(to: .credential, nil, dryRun: false))
            #expect(try KeychainClient.session().status().root == .credential)
            #expect(try KeychainClient.session().check { _ in }.allSatisfy(\.isHealthy))
        }
        #expect(try files(directory).contains("device.credential") && !files(directory).contains("device.key"))
        keychain.service.close()
        // Another machine has another secret; a program without systemd-creds has received nothing.
        let foreign = SecureHardware(credentials: sealer(try TemporaryDirectory()))
        for (other, status) in [(foreign, OSStatusCode.decode), (SecureHardware(), .notAvailable)] {
            let error = #expect(throws: KeychainError.self) {
                try TestKeychain(in: directory, clock: keychain.clock, hardware: other)
            }
            #expect(error?.status == status && error?.hint?.contains("LoadCredentialEncrypted=") == true)
        }
        #expect(try !files(directory).contains("device.key"))
        let again = try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
        try again.run(groups: ["G1"]) {
            let found = try read("item")
            #expect(found == "item")
            let isMoved = try KeychainClient.session().moveRoot(to: .file, nil, dryRun: false)
            #expect(isMoved)
        }
        #expect(try !files(directory).contains("device.credential") && files(directory).contains("device.key"))
    }

    @Test(
        "On another machine the recovery key makes a new device key; a service without its credential changes nothing",
        .enabled(if: canEncrypt))
    func recovery() throws {
        let keychain = try TestKeychain(
            .onDisk, hardware: SecureHardware(credentials: sealer(try TemporaryDirectory())))
        let directory = try #require(keychain.directory)
        let key = try keychain.run(groups: ["G1"]) {
            try add("item")
            _ = try KeychainClient.session().moveRoot(to: .credential, nil, dryRun: false)
            return try KeychainClient.session().createRecoveryKey(nil)
        }
        keychain.service.close()
        func recover(_ hardware: SecureHardware) throws -> Int {
            try ClosedKeychain.recover(
                home: KeychainHome(root: directory.path), key: key, newPasscode: TPMKeychain.passcode,
                clocks: keychain.clock.clocks, hardware: hardware)
        }
        #expect(throws: KeychainError.self) { try recover(SecureHardware()) }
        #expect(try files(directory).contains("device.credential"))
        let other = SecureHardware(credentials: sealer(try TemporaryDirectory()))
        _ = try recover(other)
        let again = try TestKeychain(in: directory, clock: keychain.clock, hardware: other)
        try again.run(groups: ["G1"]) {
            let status = try KeychainClient.session().status()
            #expect(status.root == .file)
        }
    }

    @Test("A service opens its keychain with the credential that it has received", .enabled(if: canEncrypt))
    func received() throws {
        let machine = try TemporaryDirectory()
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(credentials: sealer(machine)))
        let directory = try #require(keychain.directory)
        try keychain.run(groups: ["G1"]) {
            _ = try KeychainClient.session().moveRoot(to: .credential, nil, dryRun: false)
        }
        keychain.service.close()
        // The steps of systemd for LoadCredentialEncrypted=.
        let credentials = try TemporaryDirectory()
        let received = "\(credentials.path)/latchkey.device-key"
        let decrypted = try Executable.run(
            "/usr/bin/systemd-creds",
            ["decrypt", "--name=latchkey.device-key", "\(directory.path)/state/device.credential", received],
            home: directory.path, environment: ["SYSTEMD_CREDENTIAL_SECRET": "\(machine.path)/secret"])
        #expect(decrypted.status == 0, "\(decrypted.error)")
        func show(_ environment: [String: String]) throws -> Executable.Outcome {
            try Executable.run(
                "latchkey", ["root", "show", "--json"], home: directory.path,
                environment: environment.merging(["LATCHKEY_HOME": directory.path, "LATCHKEY_TPM": "none"]) { $1 })
        }
        let shown = try show(["CREDENTIALS_DIRECTORY": credentials.path])
        #expect(shown.status == 0 && shown.output.contains("\"root\" : \"credential\""), "\(shown)")
        for length in [0, 31, 33] {
            try Data(repeating: 1, count: length).write(to: URL(filePath: received))
            let refused = try show(["CREDENTIALS_DIRECTORY": credentials.path])
            #expect(refused.status != 0 && refused.error.contains("32 bytes"), "\(length): \(refused.error)")
        }
        try Data(repeating: 1, count: 32).write(to: URL(filePath: received))
        let foreign = try show(["CREDENTIALS_DIRECTORY": credentials.path])
        #expect(foreign.status != 0 && foreign.error.contains("another keychain"), "\(foreign.error)")
    }

    @Test("Without systemd-creds the key stays where it is")
    func unavailable() throws {
        let missing = SecureHardware(credentials: CredentialSealer(program: "/nonexistent/systemd-creds"))
        let failing = SecureHardware(credentials: CredentialSealer(program: "/bin/false"))
        for hardware in [missing, failing, SecureHardware()] {
            let keychain = try TestKeychain(.onDisk, hardware: hardware)
            try keychain.run(groups: ["G1"]) {
                for dryRun in [true, false] {
                    let error = #expect(throws: KeychainError.self) {
                        try KeychainClient.session().moveRoot(to: .credential, nil, dryRun: dryRun)
                    }
                    #expect(error?.status == .notAvailable && error?.hint != nil)
                }
                let status = try KeychainClient.session().status()
                #expect(status.root == .file)
            }
            #expect(try files(try #require(keychain.directory)).contains("device.key"))
        }
    }
}
