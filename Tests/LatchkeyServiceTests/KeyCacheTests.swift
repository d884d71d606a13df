// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyService
import SecretMemory
import Testing

/// Only a caller that has opened the item of a cached key can use the key, and the lock empties the
/// cache.
@Suite("Key cache")
struct KeyCacheTests {
    private func made() throws -> (TestKeychain, EmbeddedService, PersistentReference) {
        let keychain = try TestKeychain(.ephemeral)
        let service = try #require(keychain.service as? EmbeddedService)
        let half = ItemAddition(.key, protection: .whenUnlocked)
        let key = try service.keys.generate(
            KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half), from: TestKeychain.caller)
        return (keychain, service, key.privateHalf.persistentReference)
    }

    private func sign(
        _ service: EmbeddedService, _ key: PersistentReference, as caller: CallerIdentity = TestKeychain.caller
    ) -> Int32 {
        status { () throws(KeychainError) in
            _ = try service.keys.use(
                key, .signECDSA, on: SharedSecret(copying: [UInt8](repeating: 1, count: 32)),
                authentication: Authentication(), from: caller)
        }
    }

    @Test("A key that was used is cached; the lock, and closing the keychain, remove it")
    func lifetime() throws {
        let (keychain, service, key) = try made()
        try keychain.setPasscode()
        #expect(sign(service, key) == 0 && sign(service, key) == 0)
        #expect(service.cachedKeyCount == 1)
        try service.lock.lock(immediately: true)
        #expect(service.cachedKeyCount == 0)
        #expect(sign(service, key) == -25308)
        #expect(service.cachedKeyCount == 0)
        try keychain.unlock()
        #expect(sign(service, key) == 0 && service.cachedKeyCount == 1)
        service.close()
        #expect(service.cachedKeyCount == 0)
    }

    @Test("A cached key is not available to other callers, nor after its item is deleted or holds another key")
    func authority() throws {
        let (keychain, service, key) = try made()
        defer { withExtendedLifetime(keychain) {} }
        #expect(sign(service, key) == 0)
        #expect(
            sign(service, key, as: CallerIdentity(executable: "/usr/bin/other", declaredGroups: ["other"])) == -25300)
        let item = ItemQuery(nil, synchronizable: .any, persistentReference: key)
        _ = try service.items.update(
            item, with: ItemUpdate(data: SharedSecret(copying: [1, 2, 3])), from: TestKeychain.caller)
        #expect(sign(service, key) == -26275)
        _ = try service.items.delete(item, from: TestKeychain.caller)
        #expect(sign(service, key) == -25300)
    }

    @Test("The number of cached keys has a limit")
    func bound() throws {
        let (keychain, service, _) = try made()
        defer { withExtendedLifetime(keychain) {} }
        for _ in 0..<40 {
            let half = ItemAddition(.key)
            let key = try service.keys.generate(
                KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half), from: TestKeychain.caller)
            #expect(sign(service, key.privateHalf.persistentReference) == 0)
        }
        #expect(service.cachedKeyCount == 32)
    }
}
