// SPDX-License-Identifier: Apache-2.0

import Foundation
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

/// A device key that is sealed to PCRs, and the code for when they change.
@Suite("A root that is sealed to PCRs", .enabled(if: SoftwareTPM.hasTools))
struct RegisterBindingTests {
    private let registers: Set<UInt8> = [7, 16]

    /// Moves the device key of a new keychain.
    private func bound() throws -> (fixture: TPMKeychain, code: SharedSecret) {
        let fixture = try TPMKeychain(hasTools: true)
        let code = RegisterCode.random()
        let target = RootTarget(.tpm, registers: registers, code: code)
        #expect(try fixture.run { try $0.moveRoot(to: target, nil, dryRun: true) })
        #expect(try fixture.run { try $0.status().rootRegisters } == [])
        #expect(try fixture.run { try $0.moveRoot(to: target, TPMKeychain.passcode, dryRun: false) })
        return (fixture, code)
    }

    private func extend(_ fixture: TPMKeychain) throws {
        fixture.close()
        fixture.module.close()
        let digest = String(repeating: "5a", count: 32)
        #expect(try fixture.tpm.tool("tpm2_pcrextend", "16:sha256=\(digest)").status == 0)
    }

    private func reseal(_ fixture: TPMKeychain, _ code: SharedSecret) throws {
        try ClosedKeychain.reseal(
            home: KeychainHome(root: fixture.directory.path), code: code,
            hardware: SecureHardware(root: fixture.root))
    }

    @Test("After a change of the PCRs only the code opens the device key, and seals it to the new values")
    func change() throws {
        let (fixture, code) = try bound()
        try fixture.reopen()
        #expect(try fixture.run { try $0.status().rootRegisters } == registers)
        #expect(try fixture.read("open") == "open")
        try extend(fixture)
        let error = #expect(throws: KeychainError.self) { try fixture.reopen() }
        #expect(error?.description.contains("7,16") == true && error?.hint?.contains("reseal") == true)
        let wrong = #expect(throws: KeychainError.self) { try reseal(fixture, RegisterCode.random()) }
        #expect(wrong?.status == .authFailed)
        #expect(throws: KeychainError.self) { try reseal(fixture, SharedSecret(copying: "no code".utf8)) }
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        try reseal(fixture, code)
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
        // The code is the same for the next time.
        try extend(fixture)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        try reseal(fixture, code)
        try fixture.reopen()
        #expect(try fixture.read("open") == "open")
    }

    @Test("A move without PCRs removes the binding, and then there is no code")
    func unbound() throws {
        let (fixture, code) = try bound()
        #expect(try fixture.run { try $0.moveRoot(to: .tpm, nil, dryRun: true) })
        #expect(try fixture.run { try $0.moveRoot(to: .tpm, TPMKeychain.passcode, dryRun: false) })
        #expect(try !fixture.run { try $0.moveRoot(to: .tpm, TPMKeychain.passcode, dryRun: false) })
        try extend(fixture)
        let error = #expect(throws: KeychainError.self) { try reseal(fixture, code) }
        #expect(error?.status == .param)
        try fixture.reopen()
        #expect(try fixture.read("open") == "open")
    }

    @Test("Registers need a TPM and a code, and must exist")
    func refusals() throws {
        let fixture = try TPMKeychain(hasTools: true, hasPasscode: false)
        let code = RegisterCode.random()
        for target in [
            RootTarget(.tpm, registers: [7]), RootTarget(.tpm, registers: [7], code: SharedSecret(copying: "x".utf8)),
            RootTarget(.file, registers: [7], code: code), RootTarget(.tpm, registers: [24], code: code),
            RootTarget(.tpm, registers: Set(0..<9), code: code),
        ] {
            let error = #expect(throws: KeychainError.self, "\(target)") {
                try fixture.run { try $0.moveRoot(to: target, nil, dryRun: false) }
            }
            #expect(error?.status == .param, "\(target)")
        }
        #expect(try fixture.run { try $0.status().root } == .tpm)
    }

    @Test("A sealed device key with any byte changed opens nothing", .long)
    func damaged() throws {
        let (fixture, _) = try bound()
        fixture.close()
        let path = "\(fixture.directory.path)/state/device.tpm"
        let sealed = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let root = TPMRoot(fixture.module)
        #expect(try root.unseal(sealed).count == 32)
        let first = sealed.count
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << (index % 8)
            // The second object, for the code, is not read here.
            if let opened = try? root.unseal(changed) {
                #expect(index >= first / 2, "byte \(index)")
                #expect(try opened == root.unseal(sealed))
            }
        }
        #expect(throws: KeychainError.self) { try root.unseal(Array(sealed.prefix(6))) }
        #expect(throws: KeychainError.self) { try root.unseal(Array(sealed.prefix(sealed.count / 2))) }
    }

    @Test("latchkeyd seals to the new values, too, and recovers with its TPM", arguments: Backend.daemons)
    func daemon(_ backend: Backend) throws {
        let tpm = try SoftwareTPM(hasTools: true)
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let code = RegisterCode.random()
        let keychain = try TestKeychain(backend, hardware: SecureHardware(module))
        let key = try keychain.run(groups: ["G1"], isUserCommand: true) {
            let session = try KeychainClient.session()
            _ = try session.add(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string("a")],
                    secrets: ItemSecrets(data: SharedSecret(copying: "b".utf8)), protection: .alwaysThisDeviceOnly))
            let target = RootTarget(.tpm, registers: registers, code: code)
            #expect(try session.moveRoot(to: target, nil, dryRun: false))
            return try session.createRecoveryKey(nil)
        }
        keychain.service.close()
        module.close()
        #expect(try tpm.tool("tpm2_pcrextend", "16:sha256=\(String(repeating: "5a", count: 32))").status == 0)
        let directory = try #require(keychain.directory)
        let again = try TestKeychain(
            backend, in: directory, clock: keychain.clock, hardware: SecureHardware(module))
        let routed = try #require(again.service as? RoutedService)
        #expect(throws: KeychainError.self) { try routed.administrator.status() }
        #expect(throws: KeychainError.self) { try routed.administrator.resealRoot(with: RegisterCode.random()) }
        try routed.administrator.resealRoot(with: code)
        try again.run(groups: ["G1"], isUserCommand: true) {
            let status = try KeychainClient.session().status()
            #expect(status.rootRegisters == registers)
        }
        // Items that may not leave the device stay, because the TPM still has the device key.
        #expect(try routed.administrator.recover(with: key, newPasscode: nil) == 0)
        #expect(try routed.administrator.recover(with: key, newPasscode: TPMKeychain.other) == 0)
        try again.run(groups: ["G1"], isUserCommand: true) {
            let status = try KeychainClient.session().status()
            #expect(status.root == .tpm && status.limitsPasscodes)
        }
    }
}
