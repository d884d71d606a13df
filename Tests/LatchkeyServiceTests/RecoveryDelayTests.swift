// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
@_spi(Testing) import LatchkeyService
import SecretMemory
import Testing

/// The recovery key and the delays of wrong passcodes are independent of each other.
@Suite("Recovery during a delay")
struct RecoveryDelayTests {
    /// Uses a recovery key directly on the files, or through the daemon that owns them.
    private func recover(_ keychain: TestKeychain, with key: SharedSecret, newPasscode: SharedSecret?)
        throws(KeychainError) -> Int
    {
        if let daemon = keychain.service as? RoutedService {
            return try daemon.administrator.recover(with: key, newPasscode: newPasscode)
        }
        guard let directory = keychain.directory else {
            throw .parameter("a keychain in memory has nothing to recover")
        }
        return try ClosedKeychain.recover(
            home: KeychainHome(root: directory.path), key: key, newPasscode: newPasscode, clocks: keychain.clock.clocks)
    }

    @Test(
        "While wrong passcodes delay the correct one for an hour, the recovery key works immediately",
        arguments: [Backend.onDisk, .daemon])
    func used(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked)
        let key = try keychain.service.administrator.createRecoveryKey(Sample.secret)
        try keychain.enterWrongPasscodes(9)
        #expect(status { () throws(KeychainError) in try keychain.unlock() } == -25293)
        #expect(try keychain.service.administrator.lockStatus().delay == 3600)
        #expect(try recover(keychain, with: key, newPasscode: nil) == 0)
        // Checking the key in a dry run ends no delay.
        #expect(try keychain.service.administrator.lockStatus().delay == 3600)
        #expect(try recover(keychain, with: key, newPasscode: SharedSecret(copying: "after the delay".utf8)) == 0)
        let recovered = try keychain.reopened()
        #expect(try recovered.service.administrator.lockStatus().delay == 0)
        try recovered.unlock("after the delay")
        #expect(try recovered.find("a") == ["v"])
    }

    @Test(
        "A wrong recovery key does not count as a wrong passcode, and is not delayed",
        arguments: [Backend.onDisk, .daemon])
    func wrongKey(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        _ = try keychain.service.administrator.createRecoveryKey(Sample.secret)
        let other = try TestKeychain(.onDisk)
        try other.setPasscode()
        let foreign = try other.service.administrator.createRecoveryKey(Sample.secret)
        for _ in 0..<20 {
            #expect(
                status { () throws(KeychainError) in
                    _ = try recover(keychain, with: foreign, newPasscode: SharedSecret(copying: "a new passcode".utf8))
                } == -25293)
        }
        #expect(try keychain.service.administrator.lockStatus().wrongPasscodes == 0)
        try keychain.unlock()
    }
}
