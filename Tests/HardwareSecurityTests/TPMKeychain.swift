// SPDX-License-Identifier: Apache-2.0

import Foundation
import HardwareSecurity
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import TPMTesting
import TrustedPlatformModule

/// A keychain on disk with its device key in a TPM, with a passcode and an item of every sort.
final class TPMKeychain {
    static let passcode = SharedSecret(copying: "correct horse battery".utf8)
    static let other = SharedSecret(copying: "staple correct horse".utf8)

    let tpm: SoftwareTPM
    let module: TrustedPlatformModule
    let root: FaultyRoot
    let clock: TestClock
    let directory: TemporaryDirectory
    private(set) var keychain: TestKeychain
    /// The recovery key.
    let recoveryKey: SharedSecret

    init(hasTools: Bool = false, hasPasscode: Bool = true) throws {
        tpm = try SoftwareTPM(hasTools: hasTools)
        module = TrustedPlatformModule(tpm.address)
        let root = FaultyRoot(TPMRoot(module))
        self.root = root
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(root: root))
        guard let directory = keychain.directory else { throw SoftwareTPM.NotListening() }
        (self.keychain, self.directory, clock) = (keychain, directory, keychain.clock)
        recoveryKey = try keychain.run(groups: ["G1"]) {
            let session = try KeychainClient.session()
            if hasPasscode { try session.setPasscode(Self.passcode) { _, _ in } }
            _ = try session.moveRoot(to: .tpm, hasPasscode ? Self.passcode : nil, dryRun: false)
            return try session.createRecoveryKey(hasPasscode ? Self.passcode : nil)
        }
        try run { _ in
            try add("open", .always)
            try add("locked", .whenUnlocked)
        }
    }

    deinit { module.close() }

    func run<Result>(_ body: (KeychainSession) throws -> Result) throws -> Result {
        try keychain.run(groups: ["G1"]) { try body(try KeychainClient.session()) }
    }

    /// Opens the same files again, as another process would.
    func reopen() throws {
        keychain.service.close()
        keychain = try TestKeychain(in: directory, clock: clock, hardware: SecureHardware(root: root))
    }

    func close() { keychain.service.close() }

    // MARK: Items

    func add(_ account: String, _ protection: ProtectionClass) throws {
        _ = try KeychainClient.session().add(
            ItemAddition(
                .genericPassword, attributes: [.service: .string("s"), .account: .string(account)],
                secrets: ItemSecrets(data: SharedSecret(copying: account.utf8)), protection: protection))
    }

    func read(_ account: String) throws -> String? {
        try run { session in
            let found = try session.copyMatching(
                ItemQuery(.genericPassword, attributes: [.account: .string(account)]), returning: .data)
            return found.records.first?.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    func unlock(_ passcode: SharedSecret) throws { try run { try $0.unlock(passcode) { _, _ in } } }

    // MARK: Files

    /// Copies all files of the closed keychain.
    func copyFiles() throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        try replaceFiles(of: copy.path, by: directory.path)
        return copy
    }

    /// Puts a copy back in the place of the closed keychain.
    func restoreFiles(_ copy: TemporaryDirectory) throws { try replaceFiles(of: directory.path, by: copy.path) }

    private func replaceFiles(of target: String, by source: String) throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: target) { try files.removeItem(atPath: "\(target)/\(name)") }
        for name in try files.contentsOfDirectory(atPath: source) {
            try files.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    /// The numbers of the indices that the TPM has.
    func indices() throws -> [String] {
        module.close()
        return try tpm.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").map(String.init)
    }

    /// Sets a new passcode with the recovery key.
    @discardableResult
    func recover(newPasscode: SharedSecret?) throws -> Int {
        try ClosedKeychain.recover(
            home: KeychainHome(root: directory.path), key: recoveryKey, newPasscode: newPasscode, clocks: clock.clocks,
            hardware: SecureHardware(root: root))
    }
}
