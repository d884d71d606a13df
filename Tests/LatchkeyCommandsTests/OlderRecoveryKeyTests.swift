// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// A keychain of an earlier version, with a recovery key that does not open items with access controls.
@Suite("Recovery keys of earlier versions")
struct OlderRecoveryKeyTests {
    private static let vector = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "KeychainStoreTests/Vectors/keychain-v1-passcode")
    private static let passcode = "cafe\u{301} au lait, five cups"

    /// The keychain of the vector, unlocked.
    private func keychain() throws -> TestKeychain {
        let directory = try TemporaryDirectory()
        let home = KeychainHome(root: directory.path)
        for (name, path) in [("keychain.db", home.databasePath), ("device.key", home.deviceKeyPath)] {
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            let content = try Data(contentsOf: Self.vector.appending(path: name))
            _ = FileManager.default.createFile(
                atPath: path, contents: content, attributes: [.posixPermissions: 0o600])
        }
        let keychain = try TestKeychain(.daemon, in: directory, clock: TestClock())
        try keychain.service.administrator.unlock(SharedSecret(copying: Self.passcode.utf8)) { _, _ in }
        return keychain
    }

    private func add(_ account: String, to keychain: TestKeychain) throws {
        _ = try keychain.service.by(CallerIdentity(executable: "/usr/bin/example")).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: [1])), protection: .whenUnlocked,
                accessControlFlags: .userPresence))
    }

    @Test("doctor and status say that the recovery key is too old, with a command, until a new one is created")
    func reported() throws {
        let keychain = try keychain()
        #expect(keychain.latchkey("status").output.contains("recovery:    there is a recovery key\n"))
        #expect(!keychain.latchkey("doctor").output.contains("recovery key:"))
        try add("A", to: keychain)
        try add("B", to: keychain)
        let status = keychain.latchkey("status").output
        #expect(
            status.contains(
                """
                recovery:    the recovery key is too old for 2 items with an access control
                               hint: latchkey recovery-key create: the new key replaces it

                """), "\(status)")
        #expect(keychain.latchkey("status --json").output.contains("\"itemsWithoutRecovery\" : 2"))
        let doctor = keychain.latchkey("doctor")
        #expect(doctor.exit == 1)
        #expect(
            doctor.output.contains(
                """
                WRONG    recovery key: it is too old for 2 items with an access control, and its use would delete them
                         hint: latchkey recovery-key create: the new key replaces it

                """), "\(doctor)")
        let json = keychain.latchkey("doctor --json").output
        #expect(json.contains("\"subject\" : \"recovery key\""))

        let created = keychain.latchkey("recovery-key create", io: TestIO(input: [Self.passcode]))
        #expect(created.exit == 0)
        #expect(keychain.latchkey("status").output.contains("recovery:    there is a recovery key\n"))
        #expect(keychain.latchkey("status --json").output.contains("\"itemsWithoutRecovery\" : 0"))
        #expect(!keychain.latchkey("doctor").output.contains("recovery key:"))
    }
}
