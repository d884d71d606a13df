// SPDX-License-Identifier: Apache-2.0

import Foundation
import HardwareSecurity
@testable import Keybag
import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// The part of the passcode's key that the TPM releases, and counts tries of.
@Suite("A passcode with a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMPasscodeTests {
    private func wrong(_ number: Int) -> SharedSecret { SharedSecret(copying: "wrong \(number)".utf8) }

    /// Enters wrong passcodes, each after the delay.
    private func guess(_ fixture: TPMKeychain, _ numbers: Range<Int>) throws {
        for number in numbers {
            fixture.clock.advance(by: 3600)
            let error = #expect(throws: KeychainError.self) { try fixture.unlock(wrong(number)) }
            #expect(error?.isWrongPasscode == true, "\(number): \(String(describing: error))")
        }
        fixture.clock.advance(by: 3600)
    }

    @Test(
        "After ten wrong passcodes the TPM accepts none, with any files put back; the recovery key sets a new one")
    func limit() throws {
        let fixture = try TPMKeychain()
        try fixture.reopen()
        fixture.close()
        let copy = try fixture.copyFiles()
        try fixture.reopen()
        try guess(fixture, 0..<4)
        // The right one resets the count.
        try fixture.unlock(TPMKeychain.passcode)
        try fixture.reopen()
        try guess(fixture, 0..<9)
        // With all files as they were, the count goes on.
        fixture.close()
        try fixture.restoreFiles(copy)
        try fixture.reopen()
        #expect(try fixture.run { try $0.lockStatus().wrongPasscodes } == 0)
        try guess(fixture, 9..<10)
        for _ in 1...2 {
            let error = #expect(throws: KeychainError.self) { try fixture.unlock(TPMKeychain.passcode) }
            #expect(error?.status == .authFailed && error?.isWrongPasscode == false)
            #expect(error?.hint?.contains("recovery-key") == true)
            fixture.close()
            try fixture.restoreFiles(copy)
            try fixture.reopen()
        }
        // Items that need no passcode can still be read.
        #expect(try fixture.read("open") == "open")
        fixture.close()
        try fixture.recover(newPasscode: TPMKeychain.other)
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.other)
        #expect(try fixture.read("locked") == "locked")
        #expect(try fixture.run { try $0.status().root } == .tpm)
        // The new one has ten attempts of its own.
        try fixture.reopen()
        try guess(fixture, 0..<9)
        try fixture.unlock(TPMKeychain.other)
    }

    @Test("Without the TPM's part, the right passcode and the device key open nothing")
    func tangle() throws {
        let fixture = try TPMKeychain()
        try fixture.reopen()
        fixture.root.fail([.unsealPIN])
        let error = #expect(throws: KeychainError.self) { try fixture.unlock(TPMKeychain.passcode) }
        #expect(error?.status == .notAvailable)
        // An attempt that could not be made is not counted.
        #expect(try fixture.run { try $0.lockStatus().wrongPasscodes } == 0)
        #expect(try fixture.read("open") == "open")
        #expect(throws: KeychainError.self) { try fixture.read("locked") }
        fixture.root.fail([])
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
    }

    @Test("The passcode's key without the TPM's part does not open the keybag")
    func parts() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let root = TPMRoot(module)
        let file = DeviceKey.ephemeral()
        let plain = try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: file), deviceKey: file)
        let passcode = try Passcode(TPMKeychain.passcode)
        let parameters = PasscodeParameters.fresh(PasscodeCost(exponent: 10))
        let first = try plain.passcodeKey(passcode, parameters)
        let set = try DeviceKeybag(opening: try plain.settingPasscode(first, parameters), deviceKey: file)
        let moved = DeviceKey(root: .tpm, secret: file.secret.copy(), hardware: root)
        let key = try #require(try set.movedKey(first, to: moved))
        let keybag = try DeviceKeybag(opening: try set.movingRoot(to: moved, from: first, key), deviceKey: moved)
        let derived = try keybag.key(of: passcode)
        #expect(throws: KeybagError.self) { try keybag.unlock(with: derived) }
        _ = try keybag.unlock(with: try keybag.completing(derived))
    }

    @Test("The TPM counts a passcode each time it is typed, so it is counted here, too")
    func repetition() throws {
        let fixture = try TPMKeychain()
        try fixture.reopen()
        let before = fixture.root.count(.unsealPIN)
        for count in 1...3 {
            #expect(throws: KeychainError.self) { try fixture.unlock(wrong(0)) }
            #expect(try fixture.run { try $0.lockStatus().wrongPasscodes } == count)
        }
        #expect(fixture.root.count(.unsealPIN) == before + 3)
    }

    @Test("A wrong passcode in a file is tried once, however many processes have it")
    func automatic() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        let before = fixture.root.count(.unsealPIN)
        for _ in 1...12 {
            let service = try EmbeddedService(
                home: KeychainHome(root: fixture.directory.path), clocks: fixture.clock.clocks,
                hardware: SecureHardware(root: fixture.root),
                automaticPasscode: { () throws(KeychainError) in wrong(0) }
            )
            defer { service.close() }
            #expect(throws: KeychainError.self) {
                try service.items.copyMatching(
                    ItemQuery(.genericPassword, attributes: [.account: .string("locked")]), returning: .data,
                    from: CallerIdentity(executable: "/usr/bin/x", declaredGroups: ["G1"]))
            }
        }
        #expect(fixture.root.count(.unsealPIN) == before + 1)
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
    }

    @Test("A right passcode in a file is accepted after a verification that was killed")
    func killedVerification() throws {
        let fixture = try TPMKeychain()
        try fixture.reopen()
        let path = "\(fixture.directory.path)/state/passcode.attempts"
        let kept = "\(fixture.directory.path)/kept"
        fixture.root.duringUnseal { try? FileManager.default.copyItem(atPath: path, toPath: kept) }
        try fixture.unlock(TPMKeychain.passcode)
        fixture.close()
        // The state after a kill at this point: the attempt is counted, and not found wrong.
        try FileManager.default.moveItem(atPath: kept, toPath: path)
        let service = try EmbeddedService(
            home: KeychainHome(root: fixture.directory.path), clocks: fixture.clock.clocks,
            hardware: SecureHardware(root: fixture.root),
            automaticPasscode: { () throws(KeychainError) in TPMKeychain.passcode })
        defer { service.close() }
        let found = try service.items.copyMatching(
            ItemQuery(.genericPassword, attributes: [.account: .string("locked")]), returning: .data,
            from: CallerIdentity(executable: "/usr/bin/x", declaredGroups: ["G1"]))
        #expect(found.records.count == 1)
    }

    @Test("A changed or removed passcode leaves nothing of the old one in the TPM")
    func change() throws {
        try #require(SoftwareTPM.hasTools)
        let fixture = try TPMKeychain(hasTools: true)
        let before = try fixture.indices()
        #expect(before.count == 2)
        fixture.close()
        let copy = try fixture.copyFiles()
        try fixture.reopen()
        try fixture.run { session in
            try session.changePasscode(from: TPMKeychain.passcode, to: TPMKeychain.other, rotates: true) { _, _ in }
        }
        let after = try fixture.indices()
        #expect(after.count == 2 && after != before)
        try fixture.reopen()
        #expect(throws: KeychainError.self) { try fixture.unlock(TPMKeychain.passcode) }
        try fixture.unlock(TPMKeychain.other)
        #expect(try fixture.read("locked") == "locked")
        // The old files are of no use, also with the old passcode.
        fixture.close()
        let newest = try fixture.copyFiles()
        try fixture.restoreFiles(copy)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        try fixture.restoreFiles(newest)
        try fixture.reopen()
        _ = try fixture.run { try $0.removePasscode(TPMKeychain.other) { _, _ in } }
        #expect(try fixture.indices().count == 1)
        #expect(try fixture.read("locked") == "locked")
        #expect(try fixture.run { try $0.moveRoot(to: .file, nil, dryRun: false) })
        #expect(try fixture.indices().isEmpty)
        try fixture.reopen()
        #expect(try fixture.read("locked") == "locked")
    }

    @Test("With a passcode, the device key moves back to a file, and the TPM keeps nothing")
    func back() throws {
        try #require(SoftwareTPM.hasTools)
        let fixture = try TPMKeychain(hasTools: true)
        #expect(try fixture.run { try $0.moveRoot(to: .file, TPMKeychain.passcode, dryRun: false) })
        #expect(try fixture.indices().isEmpty)
        try fixture.reopen()
        fixture.root.fail(Set(FaultyRoot.Operation.allCases))
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
    }

    @Test("A move that fails leaves nothing in the TPM, and the keychain as it was")
    func failedMove() throws {
        try #require(SoftwareTPM.hasTools)
        let fixture = try TPMKeychain(hasTools: true)
        #expect(try fixture.run { try $0.moveRoot(to: .file, TPMKeychain.passcode, dryRun: false) })
        fixture.root.fail([.createCounter])
        #expect(throws: KeychainError.self) {
            try fixture.run { try $0.moveRoot(to: .tpm, TPMKeychain.passcode, dryRun: false) }
        }
        #expect(try fixture.indices().isEmpty)
        fixture.root.fail([])
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
        #expect(try fixture.run { try $0.status().root } == .file)
    }

    @Test("A failed removal of an index of the TPM is repeated at the next unlock")
    func retired() throws {
        try #require(SoftwareTPM.hasTools)
        let fixture = try TPMKeychain(hasTools: true)
        fixture.root.fail([.remove])
        try fixture.run { session in
            try session.changePasscode(from: TPMKeychain.passcode, to: TPMKeychain.other, rotates: false) { _, _ in }
        }
        #expect(try fixture.indices().count == 3)
        fixture.root.fail([])
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.other)
        #expect(try fixture.indices().count == 2)
        #expect(try fixture.read("locked") == "locked")
    }
}
