// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import Testing

/// Identities are stored in one transaction: no certificate is stored without its key.
@Suite("Adding identities")
struct IdentityAdditionTests {
    private func identity(
        _ number: UInt8, certificate: ProtectionClass = .whenUnlocked, key: ProtectionClass = .whenUnlocked
    ) -> IdentityAddition {
        IdentityAddition(
            certificate: ItemAddition(
                .certificate,
                attributes: [.issuer: .data([1]), .serialNumber: .data([number]), .publicKeyHash: .data([number])],
                protection: certificate),
            key: ItemAddition(.key, attributes: [.applicationLabel: .data([number])], protection: key))
    }

    private func add(_ identities: [IdentityAddition], to keychain: TestKeychain) throws(KeychainError) -> Int {
        try keychain.service.by(TestKeychain.caller).addIdentities(identities)
    }

    private func count(_ itemClass: ItemClass, in keychain: TestKeychain) -> Int {
        let query = ItemQuery(itemClass, limit: .all)
        return
            (try? keychain.service.by(TestKeychain.caller).copyMatching(query, returning: .attributes).records.count)
            ?? 0
    }

    @Test("If the key cannot be stored, the certificate before it is not stored either", arguments: Backend.allCases)
    func keyFails(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.service.administrator.lock(immediately: true)
        let half = identity(1, certificate: .afterFirstUnlock, key: .whenUnlocked)
        #expect(status { () throws(KeychainError) in _ = try add([half], to: keychain) } == -25308)
        #expect(count(.certificate, in: keychain) == 0)
        // Alone, the certificate can be stored.
        _ = try keychain.service.by(TestKeychain.caller).add(half.certificate)
        #expect(count(.certificate, in: keychain) == 1)
    }

    @Test(
        "Of several identities all are stored or none; a half that exists already is kept and is not an error",
        arguments: Backend.allCases)
    func severalIdentities(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        #expect(try add([identity(1)], to: keychain) == 2)
        #expect(status { () throws(KeychainError) in _ = try add([identity(1)], to: keychain) } == -25299)
        #expect(
            status { () throws(KeychainError) in _ = try add([identity(2), identity(3), identity(1)], to: keychain) }
                == -25299)
        #expect(count(.certificate, in: keychain) == 1 && count(.key, in: keychain) == 1)
        _ = try keychain.service.by(TestKeychain.caller).add(identity(2).certificate)
        _ = try keychain.service.by(TestKeychain.caller).add(identity(3).key)
        #expect(try add([identity(2), identity(3), identity(4)], to: keychain) == 4)
        #expect(count(.certificate, in: keychain) == 4 && count(.key, in: keychain) == 4)
    }

    @Test(
        "A deleted key of a closed class is no present key: the identity is not stored without it",
        arguments: Backend.allCases)
    func lockedTombstone(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        var deleted = identity(1, certificate: .afterFirstUnlock, key: .whenUnlocked)
        deleted.key.isSynchronizable = true
        _ = try keychain.service.by(TestKeychain.caller).add(deleted.key)
        _ = try keychain.service.by(TestKeychain.caller).delete(ItemQuery(.key, synchronizable: .any))
        try keychain.service.administrator.lock(immediately: true)
        var new = identity(1, certificate: .afterFirstUnlock, key: .afterFirstUnlock)
        new.key.isSynchronizable = true
        #expect(status { () throws(KeychainError) in _ = try add([new], to: keychain) } == -25308)
        #expect(count(.certificate, in: keychain) == 0)
        try keychain.unlock()
        #expect(try add([new], to: keychain) == 2)
    }

    @Test("The halves of all identities must name the same access group", arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        var mixed = identity(1)
        mixed.certificate.accessGroup = TestKeychain.caller.declaredGroups?.first
        #expect(mixed.certificate.accessGroup != nil)
        #expect(status { () throws(KeychainError) in _ = try add([mixed], to: keychain) } == -50)
        #expect(status { () throws(KeychainError) in _ = try add([mixed, identity(2)], to: keychain) } == -50)
        mixed.key.accessGroup = mixed.certificate.accessGroup
        #expect(try add([mixed], to: keychain) == 2)
    }

    @Test(
        "Halves of another class, and more identities than one message may hold, are rejected",
        arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let (certificate, key) = (identity(1).certificate, identity(1).key)
        let wrong = [
            [IdentityAddition(certificate: key, key: certificate)],
            [IdentityAddition(certificate: certificate, key: certificate)],
            [IdentityAddition(certificate: certificate, key: ItemAddition(.genericPassword))],
            Array(repeating: identity(1), count: IdentityAddition.maxCount + 1),
        ]
        for identities in wrong {
            #expect(status { () throws(KeychainError) in _ = try add(identities, to: keychain) } == -50)
        }
        #expect(count(.certificate, in: keychain) == 0 && count(.key, in: keychain) == 0)
        let many = (1...UInt8(IdentityAddition.maxCount)).map { identity($0) }
        #expect(try add(many, to: keychain) == 2 * IdentityAddition.maxCount)
    }
}
