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
import TPMTesting
import Testing
import TrustedPlatformModule

/// The device key in a TPM.
@Suite("The root in a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMRootTests {
    private let passcode = SharedSecret(copying: "correct horse battery".utf8)

    private func files(_ keychain: TestKeychain) throws -> Set<String> {
        let directory = try #require(keychain.directory)
        return Set(try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/state"))
    }

    private func add(_ account: String, _ protection: ProtectionClass = .always) throws {
        _ = try KeychainClient.session().add(
            ItemAddition(
                .genericPassword, attributes: [.service: .string("s"), .account: .string(account)],
                secrets: ItemSecrets(data: SharedSecret(copying: account.utf8)), protection: protection))
    }

    private func read(_ account: String) throws -> String? {
        let found = try KeychainClient.session().copyMatching(
            ItemQuery(.genericPassword, attributes: [.account: .string(account)]), returning: .data)
        return found.records.first?.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads an item; its secret is its account.
    private func expect(_ account: String) throws {
        let found = try read(account)
        #expect(found == account)
    }

    @Test("The device key moves to the TPM and back, with its items, and its file is destroyed")
    func move() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
        try keychain.run(groups: ["G1"]) {
            try add("first")
            let session = try KeychainClient.session()
            #expect(try session.status().root == .file)
            #expect(try session.moveRoot(to: .tpm, nil, dryRun: true))
            #expect(try session.status().root == .file)
            #expect(try session.moveRoot(to: .tpm, nil, dryRun: false))
            #expect(try !session.moveRoot(to: .tpm, nil, dryRun: false))
            #expect(try session.status().root == .tpm)
            #expect(try session.status().deviceKeyPath?.hasSuffix("/device.tpm") == true)
            let findings = try session.check { _ in }
            #expect(findings.contains { $0.subject == "device key" } && findings.allSatisfy(\.isHealthy))
            #expect(try read("first") == "first")
        }
        #expect(try files(keychain).contains("device.tpm") && !files(keychain).contains("device.key"))
        let again = try keychain.reopened()
        try again.run(groups: ["G1"]) {
            #expect(try read("first") == "first")
            try add("second")
            #expect(try KeychainClient.session().moveRoot(to: .file, nil, dryRun: false))
        }
        #expect(try !files(again).contains("device.tpm") && files(again).contains("device.key"))
        let last = try again.reopened()
        try last.run(groups: ["G1"]) {
            try expect("second")
            #expect(try KeychainClient.session().status().root == .file)
        }
    }

    @Test("With a passcode the move needs it, and the passcode opens the same items", arguments: Backend.daemons)
    func passcode(_ backend: Backend) throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let keychain = try TestKeychain(backend, hardware: SecureHardware(module))
        try keychain.run(groups: ["G1"], isUserCommand: true) {
            let session = try KeychainClient.session()
            try session.setPasscode(passcode) { _, _ in }
            try add("locked", .whenUnlocked)
            for wrong in [nil, SharedSecret(copying: "wrong".utf8)] {
                #expect(throws: KeychainError.self) { try session.moveRoot(to: .tpm, wrong, dryRun: false) }
            }
            #expect(try session.status().root == .file)
            #expect(try session.moveRoot(to: .tpm, passcode, dryRun: false))
            try session.lock(immediately: true)
            #expect(throws: KeychainError.self) { try read("locked") }
            try session.unlock(passcode) { _, _ in }
            #expect(try read("locked") == "locked")
        }
        let again = try keychain.reopened()
        try again.run(groups: ["G1"], isUserCommand: true) {
            try KeychainClient.session().unlock(passcode) { _, _ in }
            #expect(try read("locked") == "locked")
            #expect(try KeychainClient.session().status().root == .tpm)
        }
    }

    @Test("All files on another machine, with another TPM or none: no class opens")
    func thief() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
        try keychain.run(groups: ["G1"]) {
            try add("always")
            #expect(try KeychainClient.session().moveRoot(to: .tpm, nil, dryRun: false))
        }
        keychain.service.close()
        module.close()
        let directory = try #require(keychain.directory)
        let other = try SoftwareTPM()
        let otherModule = TrustedPlatformModule(other.address)
        for hardware in [SecureHardware(otherModule), SecureHardware()] {
            let error = #expect(throws: KeychainError.self) {
                try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
            }
            #expect(error?.hint != nil)
        }
        // Nothing was created in the place of the key, and the keychain opens with its own TPM.
        #expect(try !files(keychain).contains("device.key"))
        otherModule.close()
        let own = try TestKeychain(in: directory, clock: keychain.clock, hardware: SecureHardware(module))
        try own.run(groups: ["G1"]) { try expect("always") }
        module.close()
    }

    @Test("A device key that the keybag does not record is never used, and is removed")
    func leftOver() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let hardware = SecureHardware(module)
        let keychain = try TestKeychain(.onDisk, hardware: hardware)
        let directory = try #require(keychain.directory)
        let state = "\(directory.path)/state"
        try keychain.run(groups: ["G1"]) { try add("item") }
        let file = try Data(contentsOf: URL(filePath: "\(state)/device.key"))
        // Interrupted before the keybag says so: the file counts.
        try keychain.run(groups: ["G1"]) { _ = try KeychainClient.session().moveRoot(to: .tpm, nil, dryRun: false) }
        let sealed = try Data(contentsOf: URL(filePath: "\(state)/device.tpm"))
        try keychain.run(groups: ["G1"]) { _ = try KeychainClient.session().moveRoot(to: .file, nil, dryRun: false) }
        keychain.service.close()
        try sealed.write(to: URL(filePath: "\(state)/device.tpm"))
        chmod("\(state)/device.tpm", 0o600)
        let second = try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
        try second.run(groups: ["G1"]) { try expect("item") }
        #expect(try !files(second).contains("device.tpm"))
        // Interrupted before the file is destroyed: the TPM counts.
        try second.run(groups: ["G1"]) { _ = try KeychainClient.session().moveRoot(to: .tpm, nil, dryRun: false) }
        second.service.close()
        try file.write(to: URL(filePath: "\(state)/device.key"))
        chmod("\(state)/device.key", 0o600)
        let third = try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
        try third.run(groups: ["G1"]) { try expect("item") }
        #expect(try !files(third).contains("device.key"))
        third.service.close()
        // Without the sealed file, the other one does not help.
        unlink("\(state)/device.tpm")
        try file.write(to: URL(filePath: "\(state)/device.key"))
        chmod("\(state)/device.key", 0o600)
        #expect(throws: KeychainError.self) {
            try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
        }
    }

    @Test("A sealed device key with any byte changed opens nothing", .long)
    func damaged() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let sealer = TPMRoot(module)
        let key = SharedSecret(.random(count: 32))
        let sealed = try sealer.seal(key)
        #expect(try sealer.unseal(sealed) == key)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << (index % 8)
            #expect(throws: KeychainError.self, "byte \(index)") { try sealer.unseal(changed) }
        }
        #expect(throws: KeychainError.self) { try sealer.unseal([]) }
        #expect(throws: KeychainError.self) { try sealer.unseal(sealed.dropLast()) }
    }

    @Test("A cleared TPM leads to the recovery key; its use makes a new device key in a file")
    func recovery() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
        let key = try keychain.run(groups: ["G1"]) {
            let session = try KeychainClient.session()
            try session.setPasscode(passcode) { _, _ in }
            try add("kept", .whenUnlocked)
            try add("lost", .whenUnlockedThisDeviceOnly)
            let key = try session.createRecoveryKey(passcode)
            #expect(try session.moveRoot(to: .tpm, passcode, dryRun: false))
            return key
        }
        keychain.service.close()
        module.close()
        let other = try SoftwareTPM()
        let otherModule = TrustedPlatformModule(other.address)
        defer { otherModule.close() }
        let directory = try #require(keychain.directory)
        let home = KeychainHome(root: directory.path)
        let hardware = SecureHardware(otherModule)
        #expect(
            try ClosedKeychain.recover(
                home: home, key: key, newPasscode: nil, clocks: keychain.clock.clocks, hardware: hardware) == 1)
        #expect(
            try ClosedKeychain.recover(
                home: home, key: key, newPasscode: passcode, clocks: keychain.clock.clocks, hardware: hardware) == 1)
        let recovered = try TestKeychain(in: directory, clock: keychain.clock, hardware: hardware)
        try recovered.run(groups: ["G1"]) {
            let session = try KeychainClient.session()
            try session.unlock(passcode) { _, _ in }
            #expect(try session.status().root == .file)
            #expect(try read("kept") == "kept")
        }
        #expect(try !files(recovered).contains("device.tpm"))
    }

    @Test("Without a TPM the device key stays where it is")
    func none() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.run(groups: ["G1"]) {
            let error = #expect(throws: KeychainError.self) {
                try KeychainClient.session().moveRoot(to: .tpm, nil, dryRun: false)
            }
            #expect(error?.status == .notAvailable)
            let status = try KeychainClient.session().status()
            #expect(status.root == .file)
        }
        let memory = try TestKeychain(.ephemeral)
        memory.run(groups: ["G1"]) {
            let error = #expect(throws: KeychainError.self) {
                try KeychainClient.session().moveRoot(to: .tpm, nil, dryRun: false)
            }
            #expect(error?.status == .param)
        }
    }
}
