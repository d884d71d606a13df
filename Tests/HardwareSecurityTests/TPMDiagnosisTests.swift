// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HardwareSecurity
import Keybag
import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// The report of `latchkey doctor` on a keychain with its device key in a TPM.
@Suite("The diagnosis of a keychain with a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMDiagnosisTests {
    // MARK: With the programs

    /// The programs on a keychain of their own, with or without latchkeyd.
    private final class Machine {
        let directory = try? TemporaryDirectory()
        private let daemon: DaemonProcess?
        private let home: String
        var environment: [String: String]

        init(hasDaemon: Bool, _ tpm: SoftwareTPM) throws {
            environment = ["LATCHKEY_TPM": tpm.addressText]
            daemon = hasDaemon ? try DaemonProcess(environment: environment) : nil
            home = try daemon?.home ?? #require(directory).path + "/home"
        }

        deinit { daemon?.stop() }

        /// Runs latchkey.
        func callAsFunction(_ arguments: String...) throws -> Executable.Outcome {
            if let daemon { return try daemon.client("latchkey", arguments) }
            return try Executable.run("latchkey", arguments, home: home, environment: environment)
        }

        /// Stores an item, and moves the device key to the TPM.
        func storeItem() throws {
            #expect(try self("set", "--secret-file", try file("value", "the secret"), "s/a").status == 0)
            #expect(try self("root", "tpm").status == 0)
        }

        /// Starts latchkeyd again.
        func restart() throws {
            daemon?.stop()
            try daemon?.start()
        }

        func file(_ name: String, _ content: String) throws -> String {
            let path = try #require(directory).path + "/\(name)"
            try content.write(toFile: path, atomically: false, encoding: .utf8)
            chmod(path, 0o600)
            return path
        }

        /// Moves the directories of the keychain away.
        func setAside() throws {
            daemon?.stop()
            #expect(rename(home, "\(home).lost") == 0)
            try daemon?.start()
        }
    }

    @Test(
        "After the TPM was cleared, the steps that doctor shows lead back to the items", .long,
        arguments: [false, true])
    func cleared(_ hasDaemon: Bool) throws {
        let tpm = try SoftwareTPM(hasTools: true)
        let latchkey = try Machine(hasDaemon: hasDaemon, tpm)
        let passcode = try latchkey.file("passcode", "correct horse battery\n")
        try latchkey.storeItem()
        let recovery = try latchkey.file("recovery", try latchkey("recovery-key", "create").output)
        let status = try latchkey("status").output
        #expect(status.contains("other programs need latchkeyd for the TPM") == !hasDaemon, "\(status)")
        let healthy = try latchkey("doctor")
        #expect(healthy.status == 0, "\(healthy.output)\(healthy.error)")
        #expect(healthy.output.contains("root: the device key opens the keychain"))

        #expect(eventually { (try? tpm.tool("tpm2_clear", "-c", "p").status) == 0 })
        if hasDaemon {
            // A keychain that latchkeyd has opened stays open: the time to make a backup.
            let open = try latchkey("doctor")
            #expect(open.status == 1)
            #expect(open.output.contains("the keychain is still open, but would not open again"), "\(open.output)")
            #expect(open.output.contains("1. while it is open: latchkey backup FILE"))
        }
        try latchkey.restart()
        #expect(try latchkey("get", "s/a").status != 0)
        let broken = try latchkey("doctor")
        #expect(broken.status == 1)
        let steps = broken.output.split(separator: "\n").filter { $0.contains(#/^ +\d\. /#) }
        #expect(steps.count == 6, "\(broken.output)\(broken.error)")
        let json = try latchkey("doctor", "--json")
        #expect(json.status == 1 && json.output.contains("latchkey recovery-key use --dry-run"))

        // The steps, in their order.
        let dry = try latchkey("recovery-key", "use", "--dry-run", "--key-file", recovery)
        #expect(dry.status == 0, "\(dry.error)")
        let used = try latchkey("recovery-key", "use", "--key-file", recovery, "--passcode-file", passcode)
        #expect(used.status == 0, "\(used.error)")
        #expect(try latchkey("root", "tpm", "--passcode-file", passcode).status == 0)
        let read = try latchkey("get", "s/a", "--passcode-file", passcode)
        #expect(read.output.contains("the secret"), "\(read.error)")
        let mended = try latchkey("doctor", "--passcode-file", passcode)
        #expect(mended.status == 0, "\(mended.output)\(mended.error)")
    }

    @Test("Without a recovery key, the steps lead back with a backup", .long, arguments: [false, true])
    func backup(_ hasDaemon: Bool) throws {
        let tpm = try SoftwareTPM(hasTools: true)
        let latchkey = try Machine(hasDaemon: hasDaemon, tpm)
        let passphrase = try latchkey.file("passphrase", "Kestrel-57 over the pier\n")
        try latchkey.storeItem()
        let copy = try #require(latchkey.directory).path + "/copy"
        let saved = try latchkey("backup", copy, "--passphrase-file", passphrase)
        #expect(saved.status == 0, "\(saved.error)")
        #expect(eventually { (try? tpm.tool("tpm2_clear", "-c", "p").status) == 0 })
        try latchkey.restart()
        let broken = try latchkey("doctor")
        #expect(broken.status == 1)
        #expect(
            broken.output.contains("there is no recovery key, so: \(hasDaemon ? "stop latchkeyd" : "move ")"),
            "\(broken.output)")
        #expect(broken.output.contains("backups: the last one was made on "))
        try latchkey.setAside()
        let restored = try latchkey("restore", copy, "--passphrase-file", passphrase)
        #expect(restored.status == 0, "\(restored.error)")
        #expect(try latchkey("get", "s/a").output.contains("the secret"))
        #expect(try latchkey("doctor").status == 0)
    }

    @Test("After the TPM is gone for good, the keychain is recovered without it")
    func gone() throws {
        let tpm = try SoftwareTPM()
        let latchkey = try Machine(hasDaemon: false, tpm)
        let passcode = try latchkey.file("passcode", "correct horse battery\n")
        try latchkey.storeItem()
        let recovery = try latchkey.file("recovery", try latchkey("recovery-key", "create").output)
        tpm.stop()
        // Also with a passcode, although it cannot be verified.
        let broken = try latchkey("doctor", "--passcode-file", passcode)
        #expect(broken.status == 1)
        #expect(
            broken.output.contains("only if this TPM is gone for good: export LATCHKEY_TPM=none"), "\(broken.output)")
        #expect(try latchkey("recovery-key", "use", "--dry-run", "--key-file", recovery).status != 0)
        latchkey.environment["LATCHKEY_TPM"] = "none"
        let used = try latchkey("recovery-key", "use", "--key-file", recovery, "--passcode-file", passcode)
        #expect(used.status == 0, "\(used.error)")
        #expect(try latchkey("get", "s/a", "--passcode-file", passcode).output == "the secret")
    }

    // MARK: Causes

    /// Why a keychain does not open.
    enum Cause: CaseIterable {
        case otherTPM, noTPM, silentTPM, olderCopy, lostFile, damagedFile, changedRegisters, lostDatabase

        /// The text of the first finding, or of its first step.
        var text: String {
            switch self {
            case .otherTPM: "if the TPM or the disk was replaced: put the old one back"
            case .noTPM: "if the TPM of this machine has sealed the device key: let this program use it"
            case .silentTPM: "nothing is lost while it exists"
            case .olderCopy: "if there is a newer copy of"
            case .lostFile: "that is as old as the database: put it back"
            case .damagedFile: "if the TPM or the disk was replaced: put the old one back"
            case .changedRegisters: "latchkey root reseal"
            case .lostDatabase: "not a keychain"
            }
        }
    }

    @Test("Each cause has its own first step, and the diagnosis changes nothing", arguments: Cause.allCases)
    func causes(_ cause: Cause) throws {
        let fixture = try TPMKeychain(hasTools: true)
        var hardware = SecureHardware(root: fixture.root)
        let files = fixture.directory.path
        let sealed = "\(files)/state/device.tpm"
        var other: SoftwareTPM?
        if cause == .changedRegisters {
            try fixture.run {
                let target = RootTarget(.tpm, registers: [16], code: RegisterCode.random())
                let isMoved = try $0.moveRoot(to: target, TPMKeychain.passcode, dryRun: false)
                #expect(isMoved)
            }
        }
        fixture.close()
        switch cause {
        case .otherTPM:
            other = try SoftwareTPM()
            hardware = SecureHardware(other.map { TrustedPlatformModule($0.address) })
        case .noTPM: hardware = SecureHardware()
        case .silentTPM: fixture.root.fail([.describe, .unseal])
        case .olderCopy:
            let older = try fixture.copyFiles()
            try fixture.reopen()
            try fixture.run { try TPMRollbackTests.Change.settings.perform($0) }
            fixture.close()
            try fixture.restoreFiles(older)
        case .lostFile: #expect(unlink(sealed) == 0)
        case .damagedFile:
            var bytes = try Data(contentsOf: URL(filePath: sealed))
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: URL(filePath: sealed))
        case .changedRegisters:
            fixture.module.close()
            let extended = try fixture.tpm.tool("tpm2_pcrextend", "16:sha256=\(String(repeating: "5a", count: 32))")
            #expect(extended.status == 0)
        case .lostDatabase: #expect(truncate("\(files)/data/keychain.db", 100) == 0)
        }
        let before = try Self.content(files)
        let home = KeychainHome(root: files)
        let problem = try #require(
            #expect(throws: KeychainError.self) {
                try TestKeychain(in: fixture.directory, clock: fixture.clock, hardware: hardware)
            })
        let attempts = fixture.root.count(.unseal)
        let findings = ClosedKeychain.diagnose(problem, home: home, hardware: hardware)
        // If the TPM does not describe itself, the diagnosis does not wait for it once more.
        if cause == .silentTPM { #expect(fixture.root.count(.unseal) == attempts) }
        let first = try #require(findings.first)
        #expect(!first.isHealthy && first.detail == problem.problem)
        #expect((first.steps.first ?? first.detail).contains(cause.text), "\(findings)")
        // Where the keychain itself is gone, there is no other step than its backup.
        #expect(first.steps.contains { $0.contains("latchkey recovery-key use") } == (cause != .lostDatabase))
        #expect(try Self.content(files) == before)
    }

    /// A credential of systemd that does not open.
    private struct ClosedCredential: DeviceKeySealer {
        let status: OSStatusCode?

        func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

        func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
            if let status { throw KeychainError(status) }
            return SharedSecret(copying: sealed)
        }
    }

    @Test("A credential that is not there leads to where it is; another machine's, to the recovery key")
    func credential() throws {
        let keychain = try TestKeychain(
            .onDisk, hardware: SecureHardware(credentials: ClosedCredential(status: nil)))
        try keychain.run(groups: ["G1"]) {
            let session = try KeychainClient.session()
            #expect(try session.moveRoot(to: .credential, nil, dryRun: false))
            _ = try session.createRecoveryKey(nil)
        }
        keychain.service.close()
        let home = KeychainHome(root: try #require(keychain.directory).path)
        for (status, text) in [
            (OSStatusCode.notAvailable, "in the service that receives the credential, or as root"),
            (.decode, "if the disk was moved to another machine"),
        ] {
            let hardware = SecureHardware(credentials: ClosedCredential(status: status))
            let findings = ClosedKeychain.diagnose(KeychainError(status), home: home, hardware: hardware)
            let steps = try #require(findings.first).steps
            #expect(steps.first?.contains(text) == true, "\(steps)")
            // A recovery does not replace a credential that opens elsewhere.
            #expect(steps.contains { $0.contains("recovery-key use") } == (status == .decode), "\(steps)")
        }
    }

    /// The files of the database and the device key, by their names.
    private static func content(_ path: String) throws -> [String: Data] {
        var content: [String: Data] = [:]
        for name in ["data/keychain.db", "state/device.tpm", "state/device.key"] {
            content[name] = FileManager.default.contents(atPath: "\(path)/\(name)")
        }
        return content
    }
}
