// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// Identities are joined in one read of the keychain: a certificate, and a private key with the
/// hash of its public key as label (keychain-behaviour §1.4, idnt).
@Suite("Searching for identities")
struct IdentitySearchTests {
    /// A program with each of these groups.
    private static func caller(_ groups: String...) -> CallerIdentity {
        CallerIdentity(executable: "/usr/bin/example", declaredGroups: groups)
    }

    private static let both = caller("G1", "G2")

    private func certificate(
        _ hash: [UInt8], in group: String = "G1", protection: ProtectionClass = .whenUnlocked
    ) -> ItemAddition {
        ItemAddition(
            .certificate,
            attributes: [.issuer: .data([1]), .serialNumber: .data(hash), .publicKeyHash: .data(hash)],
            secrets: ItemSecrets(data: SharedSecret(copying: [0x30] + hash)), accessGroup: group, protection: protection
        )
    }

    private func key(
        _ label: [UInt8], in group: String = "G1", tag: String = "", half: KeyHalf = .privateKey,
        protection: ProtectionClass = .whenUnlocked
    ) -> ItemAddition {
        ItemAddition(
            .key,
            attributes: [
                .applicationLabel: .data(label), .applicationTag: .data(Array(tag.utf8)), .isPrivate: .number(1),
                .keyClass: .number(half.rawValue),
            ],
            secrets: ItemSecrets(data: SharedSecret(copying: [0x04] + label)), accessGroup: group,
            protection: protection)
    }

    private func add(_ items: [ItemAddition], to keychain: TestKeychain) throws {
        for item in items { _ = try keychain.service.by(Self.both).add(item) }
    }

    private func query(
        _ attributes: [ItemAttribute: AttributeValue] = [:], group: String? = nil, limit: MatchLimit = .all
    ) -> ItemQuery {
        ItemQuery(.identity, attributes: attributes, accessGroup: group, limit: limit)
    }

    /// The serial number of the certificate and the group of the key of each identity.
    private func found(
        _ query: ItemQuery, in keychain: TestKeychain, as caller: CallerIdentity = both
    ) throws(KeychainError) -> [String] {
        try keychain.service.by(caller).copyMatching(query, returning: .attributes).required().records.map {
            "\($0[.serialNumber]?.canonicalBytes ?? []) \($0.accessGroup.name)"
        }
    }

    @Test("Only a private key with the certificate's hash forms an identity", arguments: Backend.allCases)
    func joined(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try add([certificate([1]), certificate([2]), certificate([])], to: keychain)
        try add([key([2], half: .publicKey), key([3]), key([])], to: keychain)
        #expect(status { () throws(KeychainError) in _ = try found(query(), in: keychain) } == -25300)
        try add([key([2])], to: keychain)
        #expect(try found(query(), in: keychain) == ["[2] G1"])
        #expect(try found(query([.applicationLabel: .data([2])]), in: keychain) == ["[2] G1"])
        #expect(try found(query([.publicKeyHash: .data([2]), .applicationLabel: .data([2])]), in: keychain).count == 1)
        for attributes in [
            [.applicationLabel: .data([1])], [.publicKeyHash: .data([2]), .applicationLabel: .data([3])],
        ] as [[ItemAttribute: AttributeValue]] {
            #expect(status { () throws(KeychainError) in _ = try found(query(attributes), in: keychain) } == -25300)
        }
    }

    @Test("Both halves must be in groups that the caller may read", arguments: Backend.allCases)
    func groups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        // The key of the second certificate is in another group; the third has a key in each group.
        try add([certificate([1]), certificate([2]), certificate([3])], to: keychain)
        try add([key([1]), key([2], in: "G2"), key([3], in: "G2"), key([3])], to: keychain)
        #expect(try found(query(), in: keychain) == ["[1] G1", "[2] G2", "[3] G2", "[3] G1"])
        #expect(try found(query(), in: keychain, as: Self.caller("G1")) == ["[1] G1", "[3] G1"])
        #expect(try found(query(group: "G1"), in: keychain) == ["[1] G1", "[3] G1"])
        for (query, caller) in [(query(group: "G2"), Self.both), (query(), Self.caller("G2"))] {
            #expect(
                status { () throws(KeychainError) in _ = try found(query, in: keychain, as: caller) } == -25300)
        }
        // A certificate in a group that the caller may not read.
        try add([certificate([4], in: "G2"), key([4])], to: keychain)
        #expect(try found(query(), in: keychain, as: Self.caller("G1")) == ["[1] G1", "[3] G1"])
        #expect(
            status { () throws(KeychainError) in
                _ = try found(query(group: "G3"), in: keychain, as: Self.caller("G1"))
            } == -34018)
    }

    @Test(
        "The limit counts identities, in the order of addition of the certificates and then of the keys",
        arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try add([certificate([9]), certificate([1]), certificate([2])], to: keychain)
        try add([key([2]), key([1], in: "G2"), key([1])], to: keychain)
        let all = ["[1] G2", "[1] G1", "[2] G1"]
        for (limit, count) in [(.one, 1), (.atMost(2), 2), (.atMost(9), 3), (.all, 3)] as [(MatchLimit, Int)] {
            #expect(try found(query(limit: limit), in: keychain) == Array(all.prefix(count)), "\(limit)")
        }
        #expect(
            status { () throws(KeychainError) in _ = try found(query(limit: .atMost(0)), in: keychain) } == -25300)
    }

    @Test(
        "A locked key fails the search only if it belongs to a certificate",
        arguments: Backend.allCases)
    func locked(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try add([key([9])], to: keychain)
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try found(query(), in: keychain) } == -25300)
        try keychain.unlock()
        try add(
            [certificate([1], protection: .afterFirstUnlock), key([1], protection: .afterFirstUnlock)], to: keychain)
        try keychain.service.administrator.lock(immediately: true)
        #expect(try found(query(), in: keychain) == ["[1] G1"])
        try keychain.unlock()
        try add([certificate([2], protection: .afterFirstUnlock), key([2])], to: keychain)
        try keychain.service.administrator.lock(immediately: true)
        #expect(status { () throws(KeychainError) in _ = try found(query(), in: keychain) } == -25308)
        // The first identity is complete without the locked key. The condition excludes this key.
        #expect(try found(query(limit: .one), in: keychain) == ["[1] G1"])
        let open = query([.accessible: .string(ProtectionClass.afterFirstUnlock.rawValue)])
        #expect(try found(open, in: keychain) == ["[1] G1"])
        #expect(try keychain.service.by(Self.both).delete(query([.serialNumber: .data([1])])) == 1)
    }

    @Test("A search that ignores case joins only equal hashes", arguments: Backend.allCases)
    func ignoredCase(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let (lower, upper) = (Array("ab".utf8), Array("AB".utf8))
        try add([certificate(lower), key(upper), key(lower, in: "G2")], to: keychain)
        var ignoring = query()
        ignoring.match.ignoresCase = true
        for attributes in [[:], [.applicationLabel: .string("aB")], [.publicKeyHash: .string("Ab")]]
            as [[ItemAttribute: AttributeValue]]
        {
            ignoring.attributes = attributes
            #expect(try found(ignoring, in: keychain) == ["[97, 98] G2"], "\(attributes)")
        }
        ignoring.attributes = [.applicationLabel: .string("ac")]
        #expect(status { () throws(KeychainError) in _ = try found(ignoring, in: keychain) } == -25300)
    }

    // MARK: Both halves

    @Test(
        "Each identity has the key that was joined, and the values that were requested", arguments: Backend.allCases)
    func halves(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try add([certificate([1])], to: keychain)
        let keys = try ["one", "two"].map { try keychain.service.by(Self.both).add(key([1], tag: $0)).identifier }
        for (returning, certificateData, keyData) in [
            ([], false, false), (.attributes, false, false), (.persistentReference, false, false),
            (.reference, true, false), (.data, false, true), ([.data, .attributes], true, true),
            ([.data, .reference], true, true),
        ] as [(ReturnTypes, Bool, Bool)] {
            let found = try keychain.service.by(Self.both).copyIdentities(query(), returning: returning)
            #expect(found.map(\.key.identifier) == keys, "\(returning)")
            #expect(found.allSatisfy { $0.certificate.itemClass == .certificate && $0.key.itemClass == .key })
            #expect(found.allSatisfy { ($0.certificate.secrets?.data != nil) == certificateData }, "\(returning)")
            #expect(found.allSatisfy { ($0.key.secrets?.data != nil) == keyData }, "\(returning)")
            // The data is not a key.
            #expect(found.allSatisfy { $0.publicKey == nil })
            let references = Set(found.map(\.persistentReference))
            #expect(references == [PersistentReference(.identity, try #require(found.first).certificate.identifier)])
        }
        let named = ItemQuery(
            nil, synchronizable: .any,
            persistentReference: PersistentReference(
                .identity,
                try #require(
                    try keychain.service.by(Self.both).copyIdentities(query(), returning: []).first
                ).certificate.identifier))
        #expect(
            try keychain.service.by(Self.both).copyIdentities(named, returning: []).map(\.key.identifier)
                == [keys.first])
    }

    @Test(
        "A reference has the public key of a usable key, and its data stays in the keychain",
        arguments: Backend.allCases)
    func publicKey(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let made = try keychain.service.by(Self.both).generateKey(
            KeyGeneration(
                KeyKind(.ellipticCurve, bits: 256),
                privateHalf: ItemAddition(.key, attributes: [.isExtractable: .number(0)], accessGroup: "G1")))
        let label = try #require(made.privateHalf[.applicationLabel]).canonicalBytes
        try add([certificate(label)], to: keychain)
        func found(_ returning: ReturnTypes) throws(KeychainError) -> IdentityRecord? {
            try keychain.service.by(Self.both).copyIdentities(query(), returning: returning).first
        }
        let identity = try #require(try found(.reference))
        let reference = identity.key.persistentReference
        #expect(identity.publicKey == (try keychain.service.by(Self.both).publicKey(of: reference)))
        #expect(identity.publicKey?.publicKey == made.publicKey && identity.publicKey?.half == .privateKey)
        #expect(identity.key.secrets == nil)
        #expect(try found(.attributes)?.publicKey == nil)
        // The key is not extractable.
        #expect(status { () throws(KeychainError) in _ = try found(.data) } == -4)
        let both = try #require(try found([.data, .reference]))
        #expect(both.key.secrets == nil && both.certificate.secrets?.data != nil && both.publicKey != nil)
    }

    @Test("Only a query for identities is accepted", arguments: Backend.allCases)
    func otherClasses(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        for itemClass in ItemClass.stored {
            #expect(
                status { () throws(KeychainError) in
                    _ = try keychain.service.by(Self.both).copyIdentities(ItemQuery(itemClass), returning: [])
                } == -50)
        }
    }

    @Test("A search never sees one half of an identity without the other", arguments: [Backend.onDisk, .daemon])
    func oneState(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        @Sendable func identity(_ number: UInt8) -> IdentityAddition {
            IdentityAddition(certificate: certificate([number]), key: key([number]))
        }
        _ = try keychain.service.by(Self.both).addIdentities([identity(0)])
        let isDone = Atomic(false)
        let counts = Mutex<Set<Int>>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            do {
                guard index == 0 else {
                    while !isDone.load(ordering: .acquiring) {
                        let count = try found(query(), in: keychain).count
                        counts.withLock { _ = $0.insert(count) }
                    }
                    return
                }
                defer { isDone.store(true, ordering: .releasing) }
                for number in 1...UInt8(100) {
                    _ = try keychain.service.by(Self.both).addIdentities([identity(number)])
                    _ = try keychain.service.by(Self.both).delete(query([.serialNumber: .data([number - 1])]))
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(counts.withLock { $0.isSubset(of: [1, 2]) })
        #expect(try found(query(), in: keychain) == ["[100] G1"])
    }
}
