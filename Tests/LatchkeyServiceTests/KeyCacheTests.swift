// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyService
import SecretMemory
import Testing

/// Keys that are kept ready are used by nobody but who has opened their item, and go with the lock.
@Suite("Keys kept ready")
struct KeyCacheTests {
    private func made() throws -> (TestKeychain, EmbeddedService, PersistentReference) {
        let keychain = try TestKeychain(.ephemeral)
        let service = try #require(keychain.service as? EmbeddedService)
        let half = ItemAddition(.key, protection: .whenUnlocked)
        let key = try service.generateKey(
            KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half), from: TestKeychain.caller)
        return (keychain, service, key.privateHalf.persistentReference)
    }

    private func sign(
        _ service: EmbeddedService, _ key: PersistentReference, as caller: CallerIdentity = TestKeychain.caller
    ) -> Int32 {
        status { () throws(KeychainError) in
            _ = try service.useKey(
                key, .signECDSA, on: SharedSecret(copying: [UInt8](repeating: 1, count: 32)), from: caller)
        }
    }

    @Test("A key that was used is ready; the lock, and the end, let go of it")
    func lifetime() throws {
        let (keychain, service, key) = try made()
        try keychain.setPasscode()
        #expect(sign(service, key) == 0 && sign(service, key) == 0)
        #expect(service.cachedKeyCount == 1)
        try service.lock(immediately: true)
        #expect(service.cachedKeyCount == 0)
        #expect(sign(service, key) == -25308)
        #expect(service.cachedKeyCount == 0)
        try keychain.unlock()
        #expect(sign(service, key) == 0 && service.cachedKeyCount == 1)
        service.close()
        #expect(service.cachedKeyCount == 0)
    }

    @Test("A key that is ready is of no use to others, nor once its item is deleted or holds another key")
    func authority() throws {
        let (keychain, service, key) = try made()
        defer { withExtendedLifetime(keychain) {} }
        #expect(sign(service, key) == 0)
        #expect(
            sign(service, key, as: CallerIdentity(executable: "/usr/bin/other", declaredGroups: ["other"])) == -25300)
        let item = ItemQuery(nil, synchronizable: .any, persistentReference: key)
        _ = try service.update(
            item, with: ItemUpdate(data: SharedSecret(copying: [1, 2, 3])), from: TestKeychain.caller)
        #expect(sign(service, key) == -26275)
        _ = try service.delete(item, from: TestKeychain.caller)
        #expect(sign(service, key) == -25300)
    }

    @Test("Only so many keys are kept ready")
    func bound() throws {
        let (keychain, service, _) = try made()
        defer { withExtendedLifetime(keychain) {} }
        for _ in 0..<40 {
            let half = ItemAddition(.key)
            let key = try service.generateKey(
                KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half), from: TestKeychain.caller)
            #expect(sign(service, key.privateHalf.persistentReference) == 0)
        }
        #expect(service.cachedKeyCount == 32)
    }
}
