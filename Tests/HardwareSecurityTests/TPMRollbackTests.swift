// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HardwareSecurity
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// The counter in the TPM. It detects an older copy of a keychain.
@Suite("An older copy of a keychain", .enabled(if: SoftwareTPM.isInstalled))
struct TPMRollbackTests {
    /// Changes of the keybag.
    enum Change: CaseIterable {
        case settings, recoveryKey, passcode, removal

        func perform(_ session: KeychainSession) throws {
            let passcode = TPMKeychain.passcode
            switch self {
            case .settings:
                var settings = try session.lockStatus().settings
                settings.graceSeconds += 1
                try session.changeSettings(to: settings, passcode)
            case .recoveryKey: _ = try session.createRecoveryKey(passcode)
            case .passcode:
                try session.changePasscode(from: passcode, to: TPMKeychain.other, rotates: false) { _, _ in }
            case .removal: _ = try session.removePasscode(passcode) { _, _ in }
            }
        }
    }

    @Test("An older directory is refused with a hint, and the newer one opens", arguments: Change.allCases)
    func directory(_ change: Change) throws {
        let fixture = try TPMKeychain()
        fixture.close()
        let older = try fixture.copyFiles()
        try fixture.reopen()
        try fixture.run { try change.perform($0) }
        fixture.close()
        let newer = try fixture.copyFiles()
        try fixture.restoreFiles(older)
        let error = #expect(throws: KeychainError.self) { try fixture.reopen() }
        #expect(error?.status == .notAvailable)
        #expect(error?.description.contains("older copy") == true && error?.hint?.contains("recovery-key") == true)
        try fixture.restoreFiles(newer)
        try fixture.reopen()
        #expect(try fixture.read("open") == "open")
    }

    @Test("Items do not count: a copy from before an item was added is accepted")
    func items() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        let older = try fixture.copyFiles()
        let before = fixture.root.count(.increment)
        try fixture.reopen()
        try fixture.run { _ in try fixture.add("another", .always) }
        #expect(fixture.root.count(.increment) == before)
        fixture.close()
        try fixture.restoreFiles(older)
        try fixture.reopen()
        #expect(try fixture.read("open") == "open")
    }

    @Test("The recovery key accepts an older copy, and from then on it is the newest")
    func accept() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        let older = try fixture.copyFiles()
        try fixture.reopen()
        for _ in 1...3 { try fixture.run { try Change.settings.perform($0) } }
        fixture.close()
        let newer = try fixture.copyFiles()
        try fixture.restoreFiles(older)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        // Counting the items that would be lost changes nothing.
        #expect(try fixture.recover(newPasscode: nil) == 0)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        #expect(try fixture.recover(newPasscode: TPMKeychain.other) == 0)
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.other)
        #expect(try fixture.read("locked") == "locked")
        fixture.close()
        try fixture.restoreFiles(newer)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
    }

    @Test("A TPM that does not answer leaves a recovery undone; only a lost device key is replaced")
    func unanswered() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        fixture.root.fail([.unseal])
        for passcode in [nil, TPMKeychain.other] {
            let error = #expect(throws: KeychainError.self) { try fixture.recover(newPasscode: passcode) }
            #expect(error?.status == .notAvailable)
        }
        fixture.root.fail([])
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
        fixture.close()
        // The record is not authenticated then: the indices that it names in the TPM may belong to another keychain.
        #expect(unlink("\(fixture.directory.path)/state/device.tpm") == 0)
        try fixture.recover(newPasscode: TPMKeychain.other)
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.other)
        #expect(fixture.root.count(.remove) == 0)
        #expect(try fixture.run { try $0.status().root } == .file)
        #expect(try fixture.read("locked") == "locked")
    }

    @Test("A change with an interrupted count is completed when the keychain is opened")
    func interrupted() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        let older = try fixture.copyFiles()
        try fixture.reopen()
        fixture.root.fail([.increment])
        // The change is durable, and acknowledged.
        try fixture.run { try Change.recoveryKey.perform($0) }
        // The next one would be two ahead.
        #expect(throws: KeychainError.self) { try fixture.run { try Change.settings.perform($0) } }
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        fixture.root.fail([])
        try fixture.reopen()
        try fixture.run { try Change.settings.perform($0) }
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
        fixture.close()
        try fixture.restoreFiles(older)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
    }

    @Test("The owner of the TPM cannot count or write for the keychain; a removed counter is named")
    func owner() throws {
        try #require(SoftwareTPM.hasTools)
        let fixture = try TPMKeychain(hasTools: true, hasPasscode: false)
        let counter = try #require(try fixture.indices().first).replacing("- ", with: "")
        for hierarchy in [["-C", "o"], ["-C", counter], []] {
            #expect(try fixture.tpm.run("tpm2_nvincrement", hierarchy + [counter]).status != 0)
            #expect(try fixture.tpm.run("tpm2_nvread", hierarchy + [counter]).status != 0)
        }
        try fixture.reopen()
        fixture.close()
        fixture.module.close()
        #expect(try fixture.tpm.run("tpm2_nvundefine", ["-C", "o", counter]).status == 0)
        let error = #expect(throws: KeychainError.self) { try fixture.reopen() }
        #expect(error?.hint?.contains("recovery-key") == true)
        try fixture.recover(newPasscode: TPMKeychain.other)
        try fixture.reopen()
        #expect(try fixture.read("open") == "open")
    }

    /// THREAT-MODEL names this limit of a TPM that is a program.
    @Test("An older state of a software TPM, put back with the files of its time, is not noticed")
    func softwareState() throws {
        let fixture = try TPMKeychain()
        fixture.close()
        fixture.module.close()
        fixture.tpm.stop()
        let (files, state) = (try fixture.copyFiles(), try TemporaryDirectory())
        try FileManager.default.copyItem(atPath: fixture.tpm.state, toPath: "\(state.path)/state")
        try fixture.tpm.start()
        try fixture.reopen()
        try fixture.run { try Change.passcode.perform($0) }
        fixture.close()
        fixture.module.close()

        // The files alone are noticed.
        try fixture.restoreFiles(files)
        #expect(throws: KeychainError.self) { try fixture.reopen() }
        fixture.module.close()
        fixture.tpm.stop()
        try FileManager.default.removeItem(atPath: fixture.tpm.state)
        try FileManager.default.copyItem(atPath: "\(state.path)/state", toPath: fixture.tpm.state)
        try fixture.tpm.start()
        try fixture.reopen()
        try fixture.unlock(TPMKeychain.passcode)
        #expect(try fixture.read("locked") == "locked")
    }

    @Test("Rows of the audit log from before a change do not open after it")
    func audit() throws {
        let fixture = try TPMKeychain()
        func service() throws -> EmbeddedService {
            try EmbeddedService(
                home: KeychainHome(root: fixture.directory.path), clocks: fixture.clock.clocks,
                hardware: SecureHardware(root: fixture.root))
        }
        fixture.close()
        let first = try service()
        let log = try first.openAuditLog()
        try log.append(
            AuditEntry(
                caller: CallerIdentity(executable: "/usr/bin/x"), operation: "copy", itemClass: .genericPassword,
                group: nil, status: .success))
        log.close()
        let rows = try fixture.directory.runSQL(
            "SELECT printf('UPDATE audit SET sequence = %d, code = x''%s'', key = x''%s'' WHERE id = %d;', sequence, hex(code), hex(key), id) FROM audit"
        )
        #expect(rows.contains("UPDATE"))
        _ = try first.lock.createRecoveryKey(TPMKeychain.passcode)
        // The log goes on after the change.
        let reopened = try first.openAuditLog()
        #expect(try reopened.verify().isIntact)
        reopened.close()
        first.close()
        try fixture.directory.runSQL(rows)
        let second = try service()
        defer { second.close() }
        #expect(throws: KeychainError.self) { try second.openAuditLog() }
    }
}
